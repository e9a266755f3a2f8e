"""Writes training records for trainers; `forms.py` lists the forms."""
