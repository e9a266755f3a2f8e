"""Runs a benchmark on models: the client of each role, the scheduler, the estimate beforehand."""
