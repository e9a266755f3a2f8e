"""Rules for histories: what is refused in them, what of a prompt never reaches the model, and what results are for."""

from collections.abc import Sequence

from wildtool.check.answers import Answers, RawAnswer, ReceivedCall
from wildtool.check.defects import DefectKind
from wildtool.check.histories import ASKING, COLD, ENDING, LONG_RESULTS, SHORT, USER_SAYS, WARM
from wildtool.check.ledger import Ledger
from wildtool.json_codec import as_object, as_objects

GROWTH, NO_GROWTH = 60, 15
"""Prompt tokens that the long part of a prompt adds at least, and what is as good as none."""


def growth_of(short: Sequence[RawAnswer], long: Sequence[RawAnswer]) -> int | None:
    """By how many prompt tokens a prompt is longer than another; None if it is not known."""
    before, after = (
        next((each.tokens("prompt_tokens") for each in side if not each.failure and not each.streamed), None)
        for side in (short, long)
    )
    return after - before if before and after else None


def prompts_are_counted(answers: Answers) -> bool:
    """Whether longer prompts have more prompt tokens, as far as that is known."""
    plain = answers["first turn, plain"]
    longer = [
        growth_of(plain, answers[f"first turn, {change}"]) for change in ("long system prompt", "more tools")
    ]
    return any(growth is None or growth >= NO_GROWTH for growth in longer)


def check_history(answers: Answers, ledger: Ledger) -> None:
    """Histories that endpoints refuse or mix up, where the same in another form is answered rightly."""
    control = answers["history"]
    if not any(answer.complete for answer in control):
        return
    for name, kind, problem in (
        (
            "history, results swapped",
            DefectKind.RESULTS_IN_HISTORY,
            "results in another order than their calls are refused",
        ),
        ("history, empty result", DefectKind.RESULTS_IN_HISTORY, "an empty result is refused"),
        ("history, JSON result", DefectKind.RESULTS_IN_HISTORY, "a result that is JSON is refused"),
        (
            "history, malformed call",
            DefectKind.MALFORMED_CALL_IN_HISTORY,
            "a history with a malformed call is refused",
        ),
        ("history, long call", DefectKind.LONG_ARGUMENTS_CUT, "a call of 8 kB in the history is refused"),
    ):
        bad = [answer for answer in answers[name] if answer.refused]
        good = (
            [answer for answer in answers[name] if answer.complete]
            if kind == DefectKind.MALFORMED_CALL_IN_HISTORY
            else []
        )
        ledger.judge(kind, problem, bad, good)
    swapped = [answer for answer in answers["history, results swapped"] if answer.complete]
    if all(COLD in answer.text and WARM not in answer.text for answer in control):
        wrong = [answer for answer in swapped if WARM in answer.text and COLD not in answer.text]
        if wrong and len(wrong) == len(swapped):
            ledger.add(
                DefectKind.RESULTS_IN_HISTORY,
                "results in another order are read as if in the order of the calls",
                *wrong,
            )
        elif swapped:
            ledger.passed(DefectKind.RESULTS_IN_HISTORY)


def check_prompts(answers: Answers, ledger: Ledger) -> None:
    """System prompts, tools and results that add no token to the prompt."""
    growth = {
        (turn, change): growth_of(answers[f"{turn} turn, plain"], answers[f"{turn} turn, {change}"])
        for turn in ("first", "second")
        for change in ("long system prompt", "more tools")
    }
    for change, part in (("long system prompt", "system prompt is"), ("more tools", "tools are")):
        first, second = growth["first", change], growth["second", change]
        later = answers[f"second turn, {change}"]
        if first is not None and second is not None and first >= GROWTH:
            bad = later if second < NO_GROWTH else ()
            ledger.judge(
                DefectKind.PROMPT_OR_TOOLS_VANISH,
                f"the {part} not in the prompt of the second turn",
                bad,
                later,
            )
    system, tools = growth["first", "long system prompt"], growth["first", "more tools"]
    if system is not None and tools is not None and system >= GROWTH and tools < NO_GROWTH:
        problem = f"no tool is in the prompt: four more add {tools} tokens (llama.cpp needs --jinja)"
        ledger.add(DefectKind.SCHEMA_PARTS_DROPPED, problem, *answers["first turn, more tools"])
    if not prompts_are_counted(answers):
        ledger.add(
            DefectKind.USAGE_WRONG,
            "longer prompts have as many prompt tokens",
            *answers["first turn, long system prompt"],
        )
    if system is not None and system >= GROWTH:
        _check_result_tokens(answers, ledger)


def _check_result_tokens(answers: Answers, ledger: Ledger) -> None:
    for short, long in LONG_RESULTS.items():
        growth = growth_of(answers[short], answers[long])
        if growth is None:
            continue
        where = "a result of an earlier turn" if short == SHORT else "the last result"
        dropped = answers[long] if growth < NO_GROWTH else ()
        problem = f"{where} is not in the prompt: a longer one adds {growth} tokens"
        ledger.judge(DefectKind.RESULTS_NOT_USED, problem, dropped, answers[long])


def check_results(answers: Answers, ledger: Ledger) -> None:
    """Results that are not used, where the model uses the same words of its user."""
    control = [answer for answer in answers[USER_SAYS] if answer.complete]
    if not control or not all(_says_it(answer) for answer in control):
        return
    ended = [answer for name in ENDING for answer in answers[name] if answer.complete]
    again = [answer for answer in ended if _calls_again(answer)]
    if len(again) > 1 and len(again) == len(ended):
        ledger.add(DefectKind.RESULTS_NOT_USED, "after its result the same call is made again", *again)
    answers_in_text = [answer for name in ASKING for answer in answers[name] if answer.complete]
    wrong = [answer for answer in answers_in_text if not _says_it(answer)]
    if len(wrong) > 1 and len(wrong) == len(answers_in_text):
        ledger.add(
            DefectKind.RESULTS_NOT_USED,
            "an answer does not know the result; it knows what the user says",
            *wrong,
        )
    elif answers_in_text and len(again) < len(ended):
        ledger.passed(DefectKind.RESULTS_NOT_USED)


def _says_it(answer: RawAnswer) -> bool:
    return COLD in answer.text and WARM not in answer.text and not answer.calls


def _calls_again(answer: RawAnswer) -> bool:
    """Whether every call of a reply was made before, and has its result."""
    earlier = {
        ReceivedCall(str(function.get("name")), None, function.get("arguments")).key
        for message in as_objects(answer.sent.get("messages"))
        for call in as_objects(message.get("tool_calls"))
        for function in [as_object(call.get("function"))]
    }
    return bool(answer.calls) and {*answer.keys} <= earlier
