"""Training data: reads tool-use sets of many layouts into one form, checks, mixes and writes them for trainers."""
