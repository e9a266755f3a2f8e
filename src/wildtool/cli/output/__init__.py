"""What commands print: tables, progress, comparisons."""
