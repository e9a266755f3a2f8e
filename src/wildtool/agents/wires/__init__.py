"""The protocols in which agents ask models: what they ask is read, what the model said is written."""
