"""The pages of `wildtool review SET`: a server for one person on this machine, or for a team that signs in."""
