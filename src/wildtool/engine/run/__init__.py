"""Runs a benchmark on models: the runner, the scheduler, the estimate."""
