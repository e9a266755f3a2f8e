"""Makes sessions from templates, without a model."""
