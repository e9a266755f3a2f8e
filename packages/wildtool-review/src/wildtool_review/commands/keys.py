"""Keys that a person types into a review in the terminal."""

from collections.abc import Iterator


def typed_keys() -> Iterator[str]:
    """The keys that a person types, until there are no more; what is typed or pasted at once is one key, which means
    nothing, so that no case is decided unseen."""
    import typer

    while True:
        try:
            yield typer.getchar().lower()
        except (KeyboardInterrupt, EOFError):
            return  # the person ends the review; decisions are kept as they are made
