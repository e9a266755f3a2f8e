"""Reads tools from files: lists of tools, OpenAPI documents, YAML."""
