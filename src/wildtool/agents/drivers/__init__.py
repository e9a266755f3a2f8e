"""How agents are driven: a process, and the protocol in which it is given what the user says."""
