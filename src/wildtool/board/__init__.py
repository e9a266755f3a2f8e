"""Results that others can believe: passports, submissions that are judged again, and a board of them."""
