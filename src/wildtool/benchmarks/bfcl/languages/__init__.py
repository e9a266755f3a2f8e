"""Java and JavaScript: calls in them, and values from their texts."""
