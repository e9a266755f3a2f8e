"""Runs of an agent around a model: what the program around it did, as its replies say."""
