"""Models: whatever answers requests. An adapter knows one wire protocol; a baseline needs no network."""
