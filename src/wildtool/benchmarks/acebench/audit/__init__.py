"""What the audit needs of ACEBench: mutants of gold answers, and why a gold answer fails."""
