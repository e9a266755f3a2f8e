"""Tools as functions of scripts that the model writes and a sandbox runs."""
