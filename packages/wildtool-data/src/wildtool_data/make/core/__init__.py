"""What every generator shares: plans, prompts, roles, votes, output files."""
