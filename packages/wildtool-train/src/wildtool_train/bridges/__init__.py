"""Training frameworks: a module for each, named after it, that plays units as the framework wants them played."""
