"""Labelled cases for judges, from the gold answers of a benchmark and the mistakes that can be made in them.

Each wrong case has a right partner that looks the same to who reads nothing: in the same form, with as many calls and
messages, of nearly the same length. A mistake that has no such partner is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import zip_longest

from wildtool.benchmark import NATIVE, Benchmark, Rules
from wildtool.draws import seeded_draw
from wildtool.engine.plan import Selection, check_profile
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.judges.candidate import GOLD_FORM, Candidate
from wildtool.judges.candidates import Mistakes, right_candidates
from wildtool.judges.cases import JudgeCase, Tier
from wildtool.judges.tiers import UNASKED
from wildtool.judges.trajectories import gold_runs
from wildtool.judges.twins import BIASES, twins_of
from wildtool.types import Item, Source

LEAST_ITEMS = 50
"""Items that cases are made of, however few these are; of a larger set as many from each split and language."""
CALIPER = 0.5
"""How far partners may lie apart in what is seen without reading (`Candidate.distance`)."""
MOST_MISSES = 12
"""Items in a row without a mistake that has a partner, after which no more of its kind are looked for."""
WRONG_TIERS: Sequence[Tier] = ("meaning", "contract", "wire", "policy", "wrong only if")


def audit_cases(
    benchmark: Benchmark,
    source: Source,
    *,
    split: str | None = None,
    lang: str | None = None,
    profile: str | None = None,
    gold: int = 100,
    near_misses: int = 100,
    wrong: int = 200,
    tiers: Collection[Tier] = ("meaning",),
    twins: Collection[str] = (),
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> list[JudgeCase]:
    """Cases whose labels are known, of each kind of mistake as many as of the others, over items and languages.

    Args:
        profile: whose rules check the labels; `fixed` where there is one, else the first.
        gold: gold answers, at most.
        near_misses: right answers in another form, at most. Wrong ones have other forms in the same share.
        wrong: wrong cases of each tier, at most; one for each item and kind.
        tiers: what the labels of wrong cases rest on.
        twins: biases that are tried on right and wrong cases; the names are in `wildtool.judges.twins`.
        report: takes what is left out, and why.

    Raises:
        UsageError: a profile, tier, bias, split or language that there is not.
        DataError: no gold answer that the rules accept, or no mistake that fits.
    """
    _check_names("tier of mistakes", tiers, WRONG_TIERS)
    _check_names("kind of twin", twins, BIASES)
    profile = profile or ("fixed" if "fixed" in benchmark.profiles else next(iter(benchmark.profiles)))
    check_profile(benchmark, profile)
    if NATIVE in benchmark.modes:
        benchmark = benchmark.in_mode(NATIVE)
    selected = Selection(benchmark=benchmark, source=source, split=split, lang=lang).read()
    items = _sampled(selected, max(gold, near_misses, wrong), seed)
    choice = _Choice(benchmark.rules(profile), items, seed, gold / max(1, gold + near_misses))
    if not choice.pool:
        raise DataError(
            f"{source.name}: no gold answer of {benchmark.name} is right under {profile!r}, so that nothing is known to"
            " be right; `wildtool audit` says why"
        )
    for tier in dict.fromkeys(tiers):
        choice.add_wrong(tier, wrong)
    for text in choice.left_out():
        report(text)
    if all(candidate.is_made_here for candidate in choice.wrong):
        raise DataError(
            f"{source.name}: the mistakes of {benchmark.name} of the tier {', '.join(tiers)} look like none of its right"
            " answers, so that a judge could tell them apart without reading"
        )
    right = choice.partners(gold, near_misses)
    for side, other, made, asked in (
        ("right", "wrong", len(right), gold + near_misses),
        ("wrong", "right", len(choice.wrong), wrong * len({*tiers})),
    ):
        if made < asked:
            report(f"{made:,} {side} cases in place of {asked:,}: no more of them look like {other} ones")
    cases = [candidate.case(benchmark.name) for candidate in (*right, *choice.wrong)]
    return [*cases, *twins_of(cases, twins)]


def _check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(unknown_name(kind, name, known))


def _sampled(items: Iterable[Item], most: int, seed: int) -> list[Item]:
    """Items in a random order in which splits and languages take turns."""
    strata: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        strata[item.split, item.lang].append(item)
    for stratum, those in strata.items():
        seeded_draw(f"{seed}|{stratum}").shuffle(those)
    turns = [item for turn in zip_longest(*strata.values()) for item in turn if item is not None]
    return turns[: max(most, LEAST_ITEMS)]


class _Choice:
    """The cases chosen so far, and the right answers to choose from."""

    def __init__(self, rules: Rules, items: Sequence[Item], seed: int, plain: float) -> None:
        """Args: plain: the share of cases that are in the benchmark's own form."""
        runs = {item.id: [*gold_runs(rules, item)] for item in items}
        self._mistakes = Mistakes(rules, [item for item in items if runs[item.id]], runs, seed, plain)
        self.pool = [*right_candidates(self._mistakes)]
        self.wrong = list[Candidate]()
        self._units = sum(len(item.units) for item in items)
        self._unlike, self._unreached = list[str](), list[str]()
        self._uses = Counter[str]()

    def add_wrong(self, tier: Tier, most: int) -> None:
        """Chooses wrong cases, one of each kind in turn, of the items that were used least."""
        waiting = {kind: [*items] for kind, items in self._mistakes.items_by_kind(tier).items()}
        kinds, before = sorted(waiting), len(self.wrong)
        while waiting and len(self.wrong) - before < most:
            for kind in sorted(waiting):
                candidate = self._next(kind, waiting[kind])
                if candidate is None:
                    del waiting[kind]
                    continue
                self.wrong.append(candidate)
                if len(self.wrong) - before == most:
                    break
        without = [kind for kind in kinds if kind not in {candidate.kind for candidate in self.wrong}]
        self._unlike += [kind for kind in without if kind not in waiting]
        self._unreached += [kind for kind in without if kind in waiting]

    def _next(self, kind: str, items: list[str]) -> Candidate | None:
        """The next wrong case of a kind that has a partner."""
        for _ in range(min(len(items), MOST_MISSES)):
            item = min(items, key=self._uses.__getitem__)
            items.remove(item)
            for candidate in self._mistakes.of(item, kind):
                if self._nearest(candidate, self.pool) is not None:
                    self._uses[item] += 1
                    return candidate
        return None

    def left_out(self) -> Iterator[str]:
        """What no case is made of, with the reason."""
        unused = self._units - len(self._mistakes.runs)
        if unused:
            reason = "the rules do not accept their gold answers, or a reader would not"
            yield f"{unused:,} of {self._units:,} units are left out, since {reason}"
        kinds = self._mistakes.kinds_without_tier
        for reason, those in (
            ("nothing says what their labels rest on", [kind for kind in kinds if kind not in UNASKED]),
            ("none of them is surely wrong and looks like a right answer", self._unlike),
            ("too few cases were asked for", self._unreached),
        ):
            if those:
                yield f"{counted(len(those), 'kind')} of mistakes without a case, since {reason}: {'; '.join(those)}"
        for kind in kinds:
            if kind in UNASKED:
                yield f"{kind}: no case, since {UNASKED[kind]}"

    def partners(self, gold: int, near_misses: int) -> list[Candidate]:
        """Right cases that look like the wrong ones, each of another place."""
        remaining, chosen = [*self.pool], list[Candidate]()
        room = {True: gold, False: near_misses}
        while any(room.values()):
            before = len(chosen)
            for wrong in self.wrong:
                partner = self._nearest(wrong, [each for each in remaining if room[each.form == GOLD_FORM]])
                if partner is None:
                    continue
                chosen.append(partner)
                room[partner.form == GOLD_FORM] -= 1
                remaining = [each for each in remaining if each.place != partner.place]
            if len(chosen) == before:
                break
        return chosen

    def _nearest(self, wrong: Candidate, pool: Iterable[Candidate]) -> Candidate | None:
        """The right answer that looks most like a wrong one, of its own item if it can be; None where none is near."""
        near = [
            (wrong.preference(right), place, right)
            for place, right in enumerate(pool)
            if right.form == wrong.form and wrong.distance(right) < CALIPER
        ]
        near.sort(key=lambda each: each[:2])
        return next((right for *_, right in near if right.holds), None)
