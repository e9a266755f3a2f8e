"""What must follow from the papers' printed figures, as rules over the rows of their tables."""

from wildtool.published.rule import ArithmeticRule
from wildtool.published.rules_acebench import acebench
from wildtool.published.rules_toleap import toleap
from wildtool.published.rules_wildtoolbench import wildtoolbench


def rules(as_printed: bool) -> list[ArithmeticRule]:
    """All rules, by paper and table."""
    return [*wildtoolbench(), *acebench(as_printed), *toleap()]
