"""Catalogues of tools: how accuracy falls with their size, and which tools of your own are confused with which."""
