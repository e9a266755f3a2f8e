"""Folders with everything a training needs: data, the trainer's settings, what to compare afterwards."""
