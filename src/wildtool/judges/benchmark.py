"""The benchmark `judge-audit`: a judge is the model, and its units are cases whose labels are known."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.data.data_set import DataSet
from wildtool.data.files import read_json, source_of_files
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_object, dumps
from wildtool.judges.cases import JudgeCase, lines_of_cases, read_cases
from wildtool.judges.figures import metrics_of
from wildtool.judges.reading import Scale, read_choice
from wildtool.judges.styles import PAIRWISE, JudgeSettings, ask_pair, fitting, style_modes, style_of
from wildtool.types import FieldValue, Item, Message, Metric, Request, Source

CASES_FILE, SETTINGS_FILE = "cases.jsonl", "judge.json"
ERRORS: Mapping[str, str] = {
    "passed": "a wrong case passes",
    "not passed": "a right case does not pass",
    "unreadable": "nothing can be read in what the judge says of a right case, or of a pair",
}
"""Class of a wrong judgement to what it means."""
NAME = "judge-audit"
_OF_CASES = ("tier", "kind", "bias", "variant", "twin_of")
"""Fields of cases that are columns of verdicts."""


def files_of_set(folder: Path, cases: Iterable[JudgeCase], settings: JudgeSettings) -> dict[Path, bytes]:
    """The files of a folder that a judge is audited over, with their contents."""
    return {
        folder / CASES_FILE: lines_of_cases(cases),
        folder / SETTINGS_FILE: dumps({"prompt": settings.prompt, "scale": asdict(settings.scale)}),
    }


def read_settings(path: Path) -> JudgeSettings:
    """What a judge is asked with. Raises DataError."""
    fields = as_object(read_json(path))
    try:
        return JudgeSettings(prompt=str(fields["prompt"]), scale=Scale(**fields["scale"]))
    except (KeyError, TypeError, UsageError) as error:
        raise DataError(f"{path}: no settings of a judge ({error}); make the set again") from None


@dataclass(frozen=True, kw_only=True)
class JudgeSet(DataSet):
    """A folder of cases and settings, as `wildtool audit --judge` writes it."""

    def locate(self, data: str | None, split: str | None = None) -> Source:
        if data in (None, self.name):
            raise DataError(
                f"{self.name} ships no data; `wildtool audit BENCH --judge NAME` makes them, in OUT/set"
            )
        place = Path(str(data))
        files = [place / CASES_FILE, place / SETTINGS_FILE]
        for file in files:
            if not file.is_file():
                raise DataError(
                    f"{file}: there is no such file; give the folder that `wildtool audit --judge` wrote"
                )
        return source_of_files(str(data), place, files)


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One question to a judge."""

    messages: Sequence[Message]
    read: Callable[[Message], Any]
    """What an answer says; None where nothing can be read."""
    gold: str
    """What a judge that knows the label says."""
    again: Callable[[Message], list[Message]] | None = None
    most_asked: int = 1


class JudgeEpisode:
    """The questions about one case, one after another."""

    def __init__(self, questions: Sequence[JudgeQuestion]) -> None:
        self._questions = questions
        self._replies: list[Message] = []
        self.answers: list[Any] = []
        """What was read in the answer to each question; None where nothing can be read."""

    @property
    def done(self) -> bool:
        return len(self.answers) == len(self._questions)

    def request(self) -> Request | None:
        if self.done:
            return None
        question = self._questions[len(self.answers)]
        more = [each for reply in self._replies for each in (question.again(reply) if question.again else ())]
        gold: Message = {"role": "assistant", "content": question.gold}
        return Request([*question.messages, *more], gold=lambda style: gold)

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        question = self._questions[len(self.answers)]
        self._replies.append(reply)
        answer = question.read(reply)
        if answer is not None or len(self._replies) >= question.most_asked:
            self.answers.append(answer)
            self._replies = []


class JudgeRules(Rules):
    """The judgement beside the label. What cannot be read passes nothing, neither right nor wrong cases."""

    def __init__(self, mode: str) -> None:
        self._style, self._with_reference = style_of(mode)

    def episode(self, item: Item, unit: str) -> JudgeEpisode:
        case: JudgeCase = item.data["cases"][unit]
        settings: JudgeSettings = item.data["settings"]
        style = self._style
        question = JudgeQuestion(
            style.ask(case, self._with_reference, settings),
            lambda reply: style.read(reply, settings),
            style.answer(case.right),
            style.again,
            style.most_asked,
        )
        return JudgeEpisode([question])

    def answers_calls(self, item: Item, unit: str) -> bool:
        return False

    def verdict(self, episode: JudgeEpisode, item: Item, unit: str) -> Check:
        case: JudgeCase = item.data["cases"][unit]
        (judgement,) = episode.answers
        passed = judgement is not None and judgement.passed
        return _check(
            case, passed=passed, readable=judgement is not None, judge_score=judgement and judgement.score
        )

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(False, fields={"passed": False, "readable": False})

    def mutants(self, item: Item) -> Iterable[Mutant]:
        return ()


class JudgedPairRules(JudgeRules):
    """A pair passes if the right turn is found better in both orders."""

    def episode(self, item: Item, unit: str) -> JudgeEpisode:
        case: JudgeCase = item.data["cases"][unit]
        questions = [
            JudgeQuestion(ask_pair(case, right_first=first), read_choice, self._style.answer(first))
            for first in (True, False)
        ]
        return JudgeEpisode(questions)

    def verdict(self, episode: JudgeEpisode, item: Item, unit: str) -> Check:
        case: JudgeCase = item.data["cases"][unit]
        answers = episode.answers
        # A wrong turn "passes" where it is not found the worse one.
        passed, readable = answers != ["A", "B"], None not in answers
        return _check(
            case, passed=passed, readable=readable, choices=",".join(each or "?" for each in answers)
        )


def _check(case: JudgeCase, *, passed: bool, readable: bool, **more: FieldValue) -> Check:
    error = None
    if passed != case.right:
        error = "unreadable" if not readable else "passed" if passed else "not passed"
    reason = (
        ERRORS[error] if error else "the judge says what the label says" if readable else "cannot be read"
    )
    return Check(error is None, error, reason, fields={"passed": passed, "readable": readable, **more})


class JudgeBenchmark(Benchmark):
    """Labelled cases in a folder; `wildtool audit BENCH --judge NAME` makes and plays them."""

    name = NAME
    title = "judge-audit: what a judge says of cases whose labels are known"
    profiles: Mapping[str, str] = {"judged": "what the judge says, beside the label"}
    modes: Mapping[str, str] = style_modes()
    columns: Mapping[str, str] = {
        "labelled_right": "BOOLEAN",
        "passed": "BOOLEAN",
        "readable": "BOOLEAN",
        "judge_score": "DOUBLE",
        "choices": "VARCHAR",
        **dict.fromkeys(_OF_CASES, "VARCHAR"),
    }
    groups = ("kind",)
    data = JudgeSet(name=NAME)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        settings = read_settings(source.path / SETTINGS_FILE)
        cases = list(read_cases(source.path / CASES_FILE))
        fit, left_out = fitting(cases, self.mode)
        if left_out:
            reason = next(iter(left_out))
            raise DataError(
                f"{source.path}: {left_out[reason]:,} of {len(cases):,} cases cannot be judged in mode {self.mode}: "
                f"each {reason}"
            )
        items: dict[tuple[str, str], dict[str, JudgeCase]] = {}
        for case in fit:
            its = items.setdefault((case.item, case.lang), {})
            if case.id in its:
                raise DataError(f"{source.path / CASES_FILE}: the case {case.id!r} is there twice")
            its[case.id] = case
        for (item, its_lang), its in items.items():
            if split in (None, "") and lang in (None, its_lang):
                yield Item(
                    f"{item} {its_lang}".strip(),
                    tuple(its),
                    {"cases": its, "settings": settings},
                    lang=its_lang,
                )

    def rules(self, profile: str) -> Rules:
        return JudgedPairRules(self.mode) if self.mode == PAIRWISE else JudgeRules(self.mode)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        case: JudgeCase = item.data["cases"][unit]
        return {"labelled_right": case.right, **{name: getattr(case, name) for name in _OF_CASES}}

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        return metrics_of(verdicts, compares=self.mode == PAIRWISE)


JUDGE_AUDIT = JudgeBenchmark()
