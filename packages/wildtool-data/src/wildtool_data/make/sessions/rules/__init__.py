"""The rules that a made session must keep."""
