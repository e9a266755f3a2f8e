"""The charts of a report, from data to SVG."""
