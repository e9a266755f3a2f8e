"""The typed door of wildtool: settings as records, runs planned from them, and what `import wildtool` offers."""
