"""Providers' native APIs: each adapter turns a request into theirs, and their reply into a message."""
