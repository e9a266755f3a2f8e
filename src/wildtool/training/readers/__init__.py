"""Reads the layouts of training sets; `data_sets.py` lists them."""
