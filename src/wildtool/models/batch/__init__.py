"""Providers' batch APIs."""
