"""Single requests with gold over given tools: atoms, single and parallel calls, dialogues, imperfect instructions."""
