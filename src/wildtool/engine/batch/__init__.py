"""Runs through providers' batch APIs: requests are collected, sent, and matched with their results."""
