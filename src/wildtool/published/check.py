"""The papers' own arithmetic: holds their printed figures against the rules, and lists where they do not add up."""

from dataclasses import dataclass

from wildtool.published import corrections, read_table
from wildtool.published.rule import ArithmeticRule
from wildtool.published.rules import rules


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
    """A rule with how many numbers it was held against and those that break it."""

    rule: ArithmeticRule
    numbers: int
    discrepancies: tuple[Discrepancy, ...]


def check_tables(*, as_printed: bool = True) -> list[RuleResult]:
    """Every rule held against every row; `as_printed` False takes the tables with their misprints corrected."""
    return [_check_rule(rule, as_printed) for rule in rules(as_printed)]


def _check_rule(rule: ArithmeticRule, as_printed: bool) -> RuleResult:
    rows = read_table(rule.table, numbers_as_printed=as_printed).rows
    found = [
        Discrepancy(rule, row.model, what, printed, expected)
        for row in rows
        for what, printed, expected in rule.claims(row)
        if printed is not None and expected is not None
    ]
    return RuleResult(rule, len(found), tuple(gap for gap in found if _is_discrepancy(gap)))


def _is_discrepancy(gap: Discrepancy) -> bool:
    too_much = gap.printed - gap.expected
    return (too_much if gap.rule.relation == "at most" else abs(too_much)) > gap.rule.tolerance


def as_markdown() -> str:
    """The misprints, the rules and the gaps, as tables for the page about them."""
    fixed = {
        (gap.rule.says, gap.model, gap.what) for held in check_tables() for gap in held.discrepancies
    } - {
        (gap.rule.says, gap.model, gap.what)
        for held in check_tables(as_printed=False)
        for gap in held.discrepancies
    }
    held = check_tables()
    lines = ["| table | must hold | numbers | gaps |", "|---|---|---|---|"]
    lines += [f"| {c.rule.table} | {c.rule.says} | {c.numbers} | {len(c.discrepancies)} |" for c in held]
    lines += ["", "| table | model | what | printed | expected | |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {gap.rule.table} | {gap.model} | {gap.what} | {_shown(gap.printed)} | {_bound(gap)} | "
        f"{'corrected' if (gap.rule.says, gap.model, gap.what) in fixed else ''} |"
        for c in held
        for gap in c.discrepancies
    ]
    lines += ["", "| table | row | column | printed | corrected | why |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {c.table} | {c.model} | {c.column} | {c.printed} | {c.corrected} | {c.why} |"
        for c in corrections()
    ]
    return "\n".join(lines)


def _bound(gap: Discrepancy) -> str:
    return f"{'≤ ' if gap.rule.relation == 'at most' else ''}{_shown(gap.expected)}"


def _shown(value: float) -> str:
    return f"{round(value, 2):g}"
