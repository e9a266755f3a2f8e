"""One call of a model: retries, rate limits, budget, price and the reply cache."""
