"""`audit --blame`: whose fault a failed unit was, found by playing it again with one suspect replaced."""
