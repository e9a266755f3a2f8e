"""Tools behind a search (`--expose search`): the model finds those that it needs, then calls them."""
