"""Help for the model under test: hints of people or programs, and reasoning before the first reply."""
