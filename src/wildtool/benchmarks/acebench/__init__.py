"""ACEBench (arXiv 2501.12851): single and multi-turn calls, special requests, stateful episodes; English and Chinese."""
