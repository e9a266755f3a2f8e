"""Checks the papers' printed figures against each other, and lists where they do not add up.

`PYTHONPATH=tests python -m published.consistency` prints the tables of docs/published.md.
"""

from dataclasses import dataclass

from published.paper_rules import ArithmeticRule, rules
from wildtool.published import corrections, read_table


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A printed number that does not follow from the others."""

    rule: ArithmeticRule
    model: str
    what: str
    printed: float
    expected: float


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule, how many numbers were checked, and those that break it."""

    rule: ArithmeticRule
    numbers: int
    discrepancies: tuple[Discrepancy, ...]


def check_tables(*, as_printed: bool = True) -> list[RuleResult]:
    """Every rule on every row; with `as_printed` False the misprints are corrected first."""
    return [_check_rule(rule, as_printed) for rule in rules(as_printed)]


def _check_rule(rule: ArithmeticRule, as_printed: bool) -> RuleResult:
    found = [
        Discrepancy(rule, row.model, what, printed, expected)
        for row in read_table(rule.table, numbers_as_printed=as_printed).rows
        for what, printed, expected in rule.claims(row)
        if printed is not None and expected is not None
    ]
    return RuleResult(rule, len(found), tuple(gap for gap in found if _is_discrepancy(gap)))


def _is_discrepancy(gap: Discrepancy) -> bool:
    excess = gap.printed - gap.expected
    return (excess if gap.rule.relation == "at most" else abs(excess)) > gap.rule.tolerance


def as_markdown() -> str:
    """The rules, the gaps and the misprints as tables."""
    results = check_tables()
    gaps = [gap for result in results for gap in result.discrepancies]
    left = {_key(gap) for result in check_tables(as_printed=False) for gap in result.discrepancies}
    return "\n".join(
        [
            "| table | must hold | numbers | gaps |",
            "|---|---|---|---|",
            *(f"| {r.rule.table} | {r.rule.says} | {r.numbers} | {len(r.discrepancies)} |" for r in results),
            "",
            "| table | model | what | printed | expected | |",
            "|---|---|---|---|---|---|",
            *(
                f"| {gap.rule.table} | {gap.model} | {gap.what} | {_shown(gap.printed)} | {_bound(gap)} | "
                f"{'' if _key(gap) in left else 'corrected'} |"
                for gap in gaps
            ),
            "",
            "| table | row | column | printed | corrected | why |",
            "|---|---|---|---|---|---|",
            *(
                f"| {c.table} | {c.model} | {c.column} | {c.printed} | {c.corrected} | {c.why} |"
                for c in corrections()
            ),
        ]
    )


def _key(gap: Discrepancy) -> tuple[str, str, str]:
    return gap.rule.says, gap.model, gap.what


def _bound(gap: Discrepancy) -> str:
    return f"{'≤ ' if gap.rule.relation == 'at most' else ''}{_shown(gap.expected)}"


def _shown(value: float) -> str:
    return f"{round(value, 2):g}"


if __name__ == "__main__":
    print(as_markdown())
