"""Training data: reads tool-use sets of many layouts into one form, and writes them for trainers."""
