"""How training records are written in the shape of the API."""
