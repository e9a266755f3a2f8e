"""The pages of `wildtool review serve`: a server for one person on this machine, or for a team that signs in."""
