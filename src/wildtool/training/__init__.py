"""Files of training conversations: read from any layout into one form, played and judged by rule or by a model."""
