"""Whether a run may pass: against a baseline, against floors, and case by case."""
