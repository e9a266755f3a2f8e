"""Each mistake that an audit puts into a gold run, as it is made, and why a profile lets it pass."""

import pytest

from benchmarks.wildtoolbench.build import answer, ask, item, node
from wildtool.benchmark import Mutant
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.episode import gold_replies
from wildtool.types import Message

TASK = [ask(), node("a", 0, n=1), node("b", 1, n=2), node("c", 1, text="x y"), answer(2, 3)]


def shown(reply: Message, gold: list[Message]) -> str:
    """A reply as short text: `#` and its place for one of the gold run, what it says, or its calls with arguments, with
    `?` after one without an id, and `+` or `!` after one with a new one."""
    assert reply["role"] == "assistant"
    if reply in gold:
        return f"#{gold.index(reply)}"
    if not reply.get("tool_calls"):
        return repr(reply["content"])
    marks = {None: "?", "extra": "+", "mutant": "!"}
    return " ".join(
        f"{made['function']['name']}{made['function']['arguments']}{marks.get(made.get('id'), '')}"
        for made in reply["tool_calls"]
    )


def mistakes() -> list[str]:
    rules, own = WILDTOOLBENCH.rules("fixed"), item(TASK)
    gold = list(gold_replies(rules.episode(own, "0")) or ())
    return [
        f"{mutant.kind}; {mutant.note}; {' > '.join(shown(reply, gold) for reply in mutant.replies)}"
        for mutant in rules.mutants(own)
    ]


def test_each_mistake_is_one_change_of_the_gold_run() -> None:
    assert mistakes() == [
        "empty question; ''; '' > #1 > #2 > #3",
        "empty question; ' \\n'; ' \\n' > #1 > #2 > #3",
        "call instead of question; a; a{}! > #1 > #2 > #3",
        "call in text instead of question; [a()]; '[a()]' > #1 > #2 > #3",
        'call in text after question; {"name": "a", "arguments": {}};'
        ' \'Which one?\\n\\n{"name": "a", "arguments": {}}\' > #1 > #2 > #3',
        "question called as a tool; ask_user_for_required_parameters; ask_user_for_required_parameters{}! > #1 > #2 > #3",
        "question left out; step 0; #1 > #2 > #3",
        "text instead of calls; step 1; #0 > 'Done.'",
        "empty reply instead of calls; step 1; #0 > ''",
        "step left out; step 1; #0 > #2 > #3",
        "step repeated; step 1; #0 > #1 > #1 > #2 > #3",
        'wrong name; b for a; #0 > b{"n": 1} > #2 > #3',
        'unknown name; a_v2 for a; #0 > a_v2{"n": 1} > #2 > #3',
        'extra call; a twice; #0 > a{"n": 1} a{"n": 1}+ > #2 > #3',
        "arguments not JSON; a; #0 > a{a > #2 > #3",
        "arguments null; a; #0 > aNone > #2 > #3",
        "arguments a list; a; #0 > a[] > #2 > #3",
        'call without id; a; #0 > a{"n": 1}? > #2 > #3',
        'unknown argument; a: zz_unknown; #0 > a{"n": 1, "zz_unknown": 1} > #2 > #3',
        'extra optional argument; a: text; #0 > a{"n": 1, "text": "zzyzx quuxly"} > #2 > #3',
        'extra optional argument; a: x; #0 > a{"n": 1, "x": 987654.5} > #2 > #3',
        'wrong number; a: n: 1 -> 2; #0 > a{"n": 2} > #2 > #3',
        'wrong number; a: n: 1 -> -1; #0 > a{"n": -1} > #2 > #3',
        'wrong type; a: n: 1 -> \'1\'; #0 > a{"n": "1"} > #2 > #3',
        'null for a value; a: n: 1 -> None; #0 > a{"n": null} > #2 > #3',
        "text instead of calls; step 2; #0 > #1 > 'Done.'",
        "empty reply instead of calls; step 2; #0 > #1 > ''",
        "step left out; step 2; #0 > #1 > #3",
        "step repeated; step 2; #0 > #1 > #2 > #2 > #3",
        'wrong name; a for b; #0 > #1 > a{"n": 2} c{"text": "x y"} > #3',
        'unknown name; b_v2 for b; #0 > #1 > b_v2{"n": 2} c{"text": "x y"} > #3',
        'dropped call; b; #0 > #1 > c{"text": "x y"} > #3',
        'extra call; b twice; #0 > #1 > b{"n": 2} c{"text": "x y"} b{"n": 2}+ > #3',
        'arguments not JSON; b; #0 > #1 > b{b c{"text": "x y"} > #3',
        'arguments null; b; #0 > #1 > bNone c{"text": "x y"} > #3',
        'arguments a list; b; #0 > #1 > b[] c{"text": "x y"} > #3',
        'call without id; b; #0 > #1 > b{"n": 2}? c{"text": "x y"} > #3',
        'unknown argument; b: zz_unknown; #0 > #1 > b{"n": 2, "zz_unknown": 1} c{"text": "x y"} > #3',
        'extra optional argument; b: text; #0 > #1 > b{"n": 2, "text": "zzyzx quuxly"} c{"text": "x y"} > #3',
        'extra optional argument; b: x; #0 > #1 > b{"n": 2, "x": 987654.5} c{"text": "x y"} > #3',
        'wrong number; b: n: 2 -> 3; #0 > #1 > b{"n": 3} c{"text": "x y"} > #3',
        'wrong number; b: n: 2 -> -2; #0 > #1 > b{"n": -2} c{"text": "x y"} > #3',
        'wrong type; b: n: 2 -> \'2\'; #0 > #1 > b{"n": "2"} c{"text": "x y"} > #3',
        'null for a value; b: n: 2 -> None; #0 > #1 > b{"n": null} c{"text": "x y"} > #3',
        'wrong name; a for c; #0 > #1 > b{"n": 2} a{"text": "x y"} > #3',
        'unknown name; c_v2 for c; #0 > #1 > b{"n": 2} c_v2{"text": "x y"} > #3',
        'dropped call; c; #0 > #1 > b{"n": 2} > #3',
        'extra call; c twice; #0 > #1 > b{"n": 2} c{"text": "x y"} c{"text": "x y"}+ > #3',
        'arguments not JSON; c; #0 > #1 > b{"n": 2} c{c > #3',
        'arguments null; c; #0 > #1 > b{"n": 2} cNone > #3',
        'arguments a list; c; #0 > #1 > b{"n": 2} c[] > #3',
        'call without id; c; #0 > #1 > b{"n": 2} c{"text": "x y"}? > #3',
        'unknown argument; c: zz_unknown; #0 > #1 > b{"n": 2} c{"text": "x y", "zz_unknown": 1} > #3',
        'extra optional argument; c: n; #0 > #1 > b{"n": 2} c{"text": "x y", "n": 987654} > #3',
        'extra optional argument; c: x; #0 > #1 > b{"n": 2} c{"text": "x y", "x": 987654.5} > #3',
        'other text; c: text: \'x y\' -> \'zzyzx quuxly\'; #0 > #1 > b{"n": 2} c{"text": "zzyzx quuxly"} > #3',
        'empty text; c: text: \'x y\' -> \'\'; #0 > #1 > b{"n": 2} c{"text": ""} > #3',
        'wrong type; c: text: \'x y\' -> [\'x y\']; #0 > #1 > b{"n": 2} c{"text": ["x y"]} > #3',
        'null for a value; c: text: \'x y\' -> None; #0 > #1 > b{"n": 2} c{"text": null} > #3',
        "empty answer; ''; #0 > #1 > #2 > ''",
        "empty answer; ' \\n'; #0 > #1 > #2 > ' \\n'",
        "call instead of answer; a; #0 > #1 > #2 > a{}!",
        "call in text instead of answer; [a()]; #0 > #1 > #2 > '[a()]'",
        'call in text after answer; {"name": "a", "arguments": {}};'
        ' #0 > #1 > #2 > \'Here you are.\\n\\n{"name": "a", "arguments": {}}\'',
        "answer called as a tool; prepare_to_answer; #0 > #1 > #2 > prepare_to_answer{}!",
        "silent at the end; no answer; #0 > #1 > #2",
        "swapped steps; steps 1 and 2; #0 > #2 > #1 > #3",
        'dependent calls at once; steps 1 and 2; #0 > a{"n": 1} b{"n": 2} c{"text": "x y"} > #3',
    ]


@pytest.mark.parametrize(
    ("kind", "lang", "official", "paper"),
    [
        *((kind, "en", "Q22", "Q22") for kind in ("answer called as a tool", "question called as a tool")),
        *((f"call in text {where}", "en", "Q21", "Q21") for where in ("instead of answer", "after question")),
        *((kind, "en", "Q21", "Q21") for kind in ("empty answer", "empty question")),
        ("other text", "zh", "Q44", "taxonomy"),
        ("other text", "en", "Q42", "taxonomy"),
        ("question left out", "zh", "Q20", "taxonomy"),
        *(
            (kind, "en", "Q42", "taxonomy")
            for kind in ("invisible character in a word", "other unit of an amount")
        ),
        ("case of a letter in code", "en", "Q42", "taxonomy"),
        ("wrong number", "en", "", "taxonomy"),
    ],
)
def test_a_mistake_that_passes_is_explained(kind: str, lang: str, official: str, paper: str) -> None:
    own = item(TASK)
    own = type(own)(own.id, own.units, own.data, lang=lang)
    explained = [
        WILDTOOLBENCH.rules(profile).explain(own, Mutant("0", kind, (), "")).partition(" ")[0]
        for profile in ("official", "fixed", "paper")
    ]
    assert explained == [official, "", paper]
