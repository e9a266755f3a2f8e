"""HTTP to a model: addresses, one request and its streamed answer, failures and what to do about them."""
