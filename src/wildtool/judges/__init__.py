"""Judges judged: labelled right and wrong trajectories, what a judge says of them, and what its scores then mean."""
