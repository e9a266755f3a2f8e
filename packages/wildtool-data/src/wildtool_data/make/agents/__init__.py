"""Makes ACEBench's agent items: a start state of the sandbox, a task, milestones and the end state."""
