"""Rejects near-duplicate user texts within a set."""

from wildtool.toolcall.text.similarity import NearDuplicateIndex, fold_text
from wildtool_data.make.core.plan import Lang

NEAR_DUPLICATE_SCORE = 91.5
"""Similarity (0 to 100) above which two texts are near duplicates; `data lint` allows 92."""
MAX_REMEMBERED_TEXTS = 100_000
"""Newest texts of a language that are remembered, to bound memory."""


class Deduplicator:
    """Remembers the texts of a set."""

    def __init__(self) -> None:
        self._texts: dict[Lang, NearDuplicateIndex] = {}

    def accepts(self, lang: Lang, text: str) -> bool:
        """Whether the text differs enough from those of its language; if so it is remembered."""
        index = self._texts.setdefault(lang, NearDuplicateIndex(NEAR_DUPLICATE_SCORE, MAX_REMEMBERED_TEXTS))
        folded = fold_text(text)
        if index.first_near(folded) is not None:
            return False
        index.add(folded)
        return True
