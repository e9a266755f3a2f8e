"""Conversations that people bring, of any shape: how they are read, and how personal details in them are replaced."""
