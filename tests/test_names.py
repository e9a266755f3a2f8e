"""Names say the noun: the thing that a value is, not what was done to it.

`finding`, `proposal` or `deviation` tells a reader what a value is; `found`, `made` or `given` does not. A few such
words read well in their place, so LIMIT leaves room.
"""

from collections import Counter

from source_files import read, source_files

VAGUE = {
    "about",
    "asked",
    "called",
    "changed",
    "chosen",
    "done",
    "found",
    "given",
    "kept",
    "known",
    "left",
    "listed",
    "lost",
    "made",
    "named",
    "one",
    "others",
    "played",
    "said",
    "same",
    "seen",
    "shown",
    "taken",
    "wanted",
    "what",
    "who",
    "whole",
    "why",
    "written",
}
LIMIT = 0.0115
"""Share of the bindings."""


def test_names_are_nouns():
    total, vague = 0, Counter[str]()
    for path in source_files():
        names = [name.strip("_") for name in read(path).bound]
        total += len(names)
        vague.update(name for name in names if name in VAGUE)
    share = vague.total() / total
    print(f"{share:.2%} of {total:,} bindings:", *(f"{name} {count}" for name, count in vague.most_common()))
    assert share <= LIMIT, "name what a value is: a noun"
