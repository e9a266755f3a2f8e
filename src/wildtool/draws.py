"""Random draws from a seed: the same seed gives the same draws on every machine."""

from random import Random


def seeded_draw(seed: str | bytes | int) -> Random:
    """A source of random draws. Any text is a seed, also one with lone surrogates, as ids of foreign files may have."""
    # `Random` itself encodes a text strictly; for every text that it accepts the draws are the same.
    return Random(seed.encode("utf-8", "surrogatepass") if isinstance(seed, str) else seed)
