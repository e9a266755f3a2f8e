"""ROUGE-L as the package `rouge` 1.0.1 computes it at summary level, without its recursion.

Reimplemented because the package's recursive trace-back makes a verdict depend on how deep the caller's own
stack is (docs/decisions/0003-own-rouge-l.md). Equality with the package is a test.
"""

from collections.abc import Sequence

MAX_TRACE_STEPS = 982
"""Moves of the trace-back beyond which the package exceeds Python's recursion limit and raises."""
MAX_CELLS = 4_000_000
"""Word pairs beyond which texts are not compared: the package would need minutes and gigabytes."""
MAX_ROUGE_CHARACTERS = 200_000
"""Length beyond which a text is not split into words."""


class RougeError(ValueError):
    """The texts cannot be scored: one has no words, or they are too long."""


def rouge_l_f(predicted: str, gold: str) -> float:
    """F measure of the union of longest common word subsequences over all pairs of sentences.

    Raises:
        RougeError: a text has no sentence, or the original would exceed its recursion limit.
    """
    if max(len(predicted), len(gold)) > MAX_ROUGE_CHARACTERS:
        raise RougeError("texts too long")
    predicted_sentences, gold_sentences = _sentences(predicted), _sentences(gold)
    if not predicted_sentences or not gold_sentences:
        raise RougeError("no words to compare")
    if sum(map(len, gold_sentences)) * sum(map(len, predicted_sentences)) > MAX_CELLS:
        raise RougeError("texts too long")
    common: set[str] = set()
    for sentence in gold_sentences:
        for other in predicted_sentences:
            common.update(_common_words(sentence, other))
    precision = len(common) / len({word for sentence in predicted_sentences for word in sentence})
    recall = len(common) / len({word for sentence in gold_sentences for word in sentence})
    return 2.0 * precision * recall / (precision + recall + 1e-8)


def _sentences(text: str) -> list[list[str]]:
    """Pieces between full stops, whitespace collapsed, cut at single blanks; a blank piece is one empty word."""
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def _common_words(gold: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """Words of one longest common subsequence, the one that the original's trace-back finds."""
    i, j = len(gold), len(predicted)
    if min(i, j) > MAX_TRACE_STEPS:
        raise RougeError("texts too long")
    table = [[0] * (j + 1)]
    for word in gold:
        above, row = table[-1], [0]
        for column, other in enumerate(predicted):
            row.append(above[column] + 1 if word == other else max(row[column], above[column + 1]))
        table.append(row)
    words: list[str] = []
    moves = 0
    while i and j:
        moves += 1
        if moves > MAX_TRACE_STEPS:
            raise RougeError("texts too long")
        if gold[i - 1] == predicted[j - 1]:
            words.append(gold[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words
