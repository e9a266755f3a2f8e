"""The ledger: a live account book, and users who correct themselves, ask, and want each thing written once."""
