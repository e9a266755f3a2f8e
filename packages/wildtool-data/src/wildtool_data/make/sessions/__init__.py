"""Makes sessions through models in roles."""
