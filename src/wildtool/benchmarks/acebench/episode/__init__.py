"""Agent episodes: the simulated user, the sandbox calls, the end state."""
