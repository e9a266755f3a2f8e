"""What lint says of ACEBench data, word for word: of records, of episodes, and of files."""

# ruff: noqa: E501 - each finding stands on one line

from pathlib import Path
from typing import Any

import pytest

from benchmarks.acebench.test_data import SINGLE, answer, question, write
from benchmarks.acebench.test_lint import ERROR_PARAM, INCOMPLETE, ON, STEP, TEXT, episode, tool
from wildtool.benchmarks.acebench.lint import lint_folder

FUNCTIONS = [
    tool(
        "f",
        "a",
        a=TEXT,
        n={"type": "number"},
        w={"type": "array"},
        c={"type": "colour"},
        k={"type": [1]},
        i={"type": "int"},
        e=TEXT,
    ),
    tool("f", b=TEXT),
    tool("find"),
    tool("find_all", "z"),
    tool("h_1", "a", a=TEXT),
    {"name": "g", "arguments": {}},
    {"name": " s ", "parameters": 3},
]
GOLDS: list[dict[str, Any]] = [
    {"f": {"zz": 1, "a": [], "n": 1.5, "w": [1], "c": 1, "k": 1, "i": True, "e": {}, " a": "x"}},
    {"find_all": {}, "h_1": {"a": "x"}, "g": {}, "gone_2": {"z": 1}, " s ": {"a": 1}},
    {"f_1": {"a": "x", "n": 1}, "f_2": {"a": "y", "n": 2, "w": []}},
]


def reported(folder: Path, category: str) -> list[tuple[str, ...]]:
    """Place, rule and message of each finding; the file's and the record's category are left out."""

    def short(text: str) -> str:
        names = ((str(folder) + "/", ""), (str(folder), "FOLDER"), (category, "CATEGORY"))
        for name, by in names:
            text = text.replace(name, by)
        return text

    return [(short(finding.where), finding.rule, short(finding.message)) for finding in lint_folder(folder)]


def test_every_fault_of_calls_is_named_with_its_place(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_0", f"{SINGLE}_1"]
    asked = [question(ids[0], function=FUNCTIONS), question(ids[1], function=FUNCTIONS[:2])]
    write(tmp_path, SINGLE, asked, [answer(ids[0], GOLDS), answer(ids[1], {"f": {"a": "x"}})])
    assert reported(tmp_path, SINGLE) == [
        (
            "en/data_CATEGORY.json:1 CATEGORY_0 function",
            "duplicate function",
            "'f' is offered 2 times; the first one counts",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1].find_all",
            "not offered",
            "the official rules take the description of 'f', since its name contains that one (Q28)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1].g",
            "not offered",
            "the function 'g' is offered without parameters",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1].gone_2",
            "not offered",
            "the function 'gone' is not offered",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1]. s ",
            "not offered",
            "the function ' s ' is offered without parameters",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1].h_1",
            "name with digits",
            "'h_1' ends in digits, which the official rules cut off: no reply passes (Q27)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1].find_all",
            "missing required",
            "the required parameter 'z' is not in gold: no reply passes (Q22)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.zz",
            "unknown parameter",
            "no parameter of the function",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f. a",
            "unknown parameter",
            "no parameter of the function",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.a",
            "type",
            "declared string, gold is []: any list passes (Q12)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.n",
            "type",
            "declared number, gold is 1.5: the official rules compare no fractions (Q12)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.c",
            "type",
            "declared type 'colour' is unknown: the official rules fail",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.k",
            "type",
            "declared type [1] is unknown: the official rules fail",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.i",
            "type",
            "declared int, gold is True: any bool passes (Q12)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.e",
            "type",
            "declared string, gold is {}: any dict passes (Q12)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.a",
            "empty gold",
            "gold is [], which no value matches (Q21); leave the parameter out",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f.e",
            "empty gold",
            "gold is {}, which no value matches (Q21); leave the parameter out",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[2].f_2.w",
            "empty gold",
            "gold is [], which no value matches (Q21); leave the parameter out",
        ),
        (
            "en/data_CATEGORY.json:1 CATEGORY_0 function f.w",
            "array without items",
            "'f' declares no items, so the official rules expect objects (Q20)",
        ),
        (
            "en/data_CATEGORY.json:1 CATEGORY_0 function f.w",
            "array without items",
            "'f' declares no items, so the official rules expect objects (Q20)",
        ),
        (
            "en/data_CATEGORY.json:1 CATEGORY_0 function",
            "stray blanks",
            "blanks around ' s ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].f",
            "stray blanks",
            "blanks around ' a', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1]. s ",
            "stray blanks",
            "blanks around ' s ', which a reply must repeat (Q44)",
        ),
        (
            "en/data_CATEGORY.json:2 CATEGORY_1 function",
            "duplicate function",
            "'f' is offered 2 times; the first one counts",
        ),
    ]


def test_every_fault_of_messages_is_named_with_its_place(tmp_path: Path) -> None:
    inside = {"type": "array", "items": [{"properties": {"in": TEXT}}]}
    functions = [tool("f ", a=inside), tool("g", b=TEXT)]
    golds = {
        INCOMPLETE: ({"f": ["a", "in", "b"]}, {"h": ["b", "q"]}, {" g": ["b "]}),
        ERROR_PARAM: ({"a": ["-5", "6"], "zz": ["it"]}, {"b ": ["-5"]}),
    }
    for category, faults in golds.items():
        ids = [f"{category}_{number}" for number in range(len(faults))]
        asked = [question(id_, function=functions, question="user: it is -5") for id_ in ids]
        write(tmp_path, category, asked, [answer(*pair) for pair in zip(ids, faults, strict=True)])
    assert reported(tmp_path, "special") == [
        (
            "en/possible_answer/data_CATEGORY_incomplete.json:1 CATEGORY_incomplete_0 ground_truth.f",
            "unknown parameter",
            "'b' is no parameter of the function",
        ),
        (
            "en/data_CATEGORY_incomplete.json:1 CATEGORY_incomplete_0 function",
            "stray blanks",
            "blanks around 'f ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_incomplete.json:2 CATEGORY_incomplete_1 ground_truth.h",
            "not offered",
            "this function is not offered",
        ),
        (
            "en/possible_answer/data_CATEGORY_incomplete.json:2 CATEGORY_incomplete_1 ground_truth.h",
            "unknown parameter",
            "'q' is no parameter of the function",
        ),
        (
            "en/data_CATEGORY_incomplete.json:2 CATEGORY_incomplete_1 function",
            "stray blanks",
            "blanks around 'f ', which a reply must repeat (Q44)",
        ),
        (
            "en/data_CATEGORY_incomplete.json:3 CATEGORY_incomplete_2 function",
            "stray blanks",
            "blanks around 'f ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_incomplete.json:3 CATEGORY_incomplete_2 ground_truth. g",
            "stray blanks",
            "blanks around ' g', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_incomplete.json:3 CATEGORY_incomplete_2 ground_truth. g",
            "stray blanks",
            "blanks around 'b ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_error_param.json:1 CATEGORY_error_param_0 ground_truth.zz",
            "unknown parameter",
            "'zz' is no parameter of the function",
        ),
        (
            "en/data_CATEGORY_error_param.json:1 CATEGORY_error_param_0 function",
            "stray blanks",
            "blanks around 'f ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_error_param.json:1 CATEGORY_error_param_0 ground_truth.a",
            "not in question",
            "the question does not say '6', which a reply must repeat (Q47)",
        ),
        (
            "en/data_CATEGORY_error_param.json:2 CATEGORY_error_param_1 function",
            "stray blanks",
            "blanks around 'f ', which a reply must repeat (Q44)",
        ),
        (
            "en/possible_answer/data_CATEGORY_error_param.json:2 CATEGORY_error_param_1 ground_truth.b ",
            "stray blanks",
            "blanks around 'b ', which a reply must repeat (Q44)",
        ),
    ]


def test_every_fault_of_files_is_named_in_the_order_of_their_lines(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_{number}" for number in (0, 2, 1, 3, 5, 6)]
    asked = ["{broken\n", "[1]\n", *map(question, ids), question(ids[0]), question(5)]  # type: ignore[arg-type]
    answers: list[Any] = [answer(id_, {"f": {}}) for id_ in (ids[1], ids[0], *ids[2:4])]
    answers += [answer(f"{SINGLE}_9", {}), answer(f"{SINGLE}_8", {}), {"ground_truth": {}}]
    write(tmp_path, SINGLE, asked, [*answers, answer(ids[3], {"f": {}})])
    assert reported(tmp_path, SINGLE) == [
        (
            "en/data_CATEGORY.json:1",
            "format",
            "not a JSON object (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        ),
        ("en/data_CATEGORY.json:2", "format", "expected a JSON object, found list"),
        ("en/data_CATEGORY.json:9 CATEGORY_0 id", "duplicate", "en/data_CATEGORY.json:3 has this id already"),
        ("en/data_CATEGORY.json:10 (id 5)", "format", "field id: expected a text, found 5"),
        (
            "en/possible_answer/data_CATEGORY.json:7 (id None)",
            "format",
            "field id: expected a text, found null",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:8 CATEGORY_3 id",
            "duplicate",
            "en/possible_answer/data_CATEGORY.json:4 has this id already",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:5 CATEGORY_9 id",
            "unmatched",
            "en/data_CATEGORY.json has no question with this id",
        ),
        (
            "en/possible_answer/data_CATEGORY.json:6 CATEGORY_8 id",
            "unmatched",
            "en/data_CATEGORY.json has no question with this id",
        ),
        (
            "en/data_CATEGORY.json:7 CATEGORY_5 id",
            "unmatched",
            "en/possible_answer/data_CATEGORY.json has no such answer",
        ),
        (
            "en/data_CATEGORY.json:8 CATEGORY_6 id",
            "unmatched",
            "en/possible_answer/data_CATEGORY.json has no such answer",
        ),
        (
            "en/possible_answer/data_CATEGORY.json",
            "order",
            "the answers are in another order than in en/data_CATEGORY.json",
        ),
        (
            "en/data_CATEGORY.json:5 CATEGORY_1 id",
            "order",
            "expected ascending ids, found it after CATEGORY_2",
        ),
    ]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (
            {"mile_stone": [["[turn_on_wifi()]", "words"], ["[login_device()]"], ["[turn_on_wifi()]"]]},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone[0][1]",
                    "milestone",
                    "'words' cannot be read as calls, so no reply that works matches it (Q52)",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone[1]",
                    "state",
                    "the milestones do not lead to the gold state: class(BaseApi) attributes(wifi) wrong, [expected: True, real: False]",
                ),
            ],
        ),
        (
            {"mile_stone": ["[zz(), say(text='It's on'), turn_on_wifi()]"]},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone[0]",
                    "milestone",
                    "\"[zz(), say(text='It's on'), turn_on_wifi()]\" cannot be read as calls, so no reply that works matches it (Q52)",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "not offered",
                    "the milestones call 'say', which is not offered",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "not offered",
                    "the milestones call 'zz', which is not offered",
                ),
            ],
        ),
        (
            {"initial_config": {"Baspi": {"wifi": False}}, "involved_classes": ["BaseApi", "Nope"]},
            [
                (
                    "en/data_CATEGORY.json:1 CATEGORY_0 involved_classes",
                    "class",
                    "'Nope' is no class of the sandbox: BaseApi, Finance, FoodPlatform, MessageApi, ReminderApi, Travel",
                ),
                (
                    "en/data_CATEGORY.json:1 CATEGORY_0 initial_config",
                    "class",
                    "'Baspi' is no class of the sandbox, so this part is not used: BaseApi, Finance, FoodPlatform, MessageApi, ReminderApi, Travel",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth",
                    "class",
                    "1 entries for 2 classes: no reply passes",
                ),
            ],
        ),
        (
            {"ground_truth": [ON, {"Travel": {"users": {}, "reservations": []}, "Nope": {"a": 1}}]},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[1]",
                    "class",
                    "'Nope' is no class of the sandbox, so this state is never compared (Q49): BaseApi, Finance, FoodPlatform, MessageApi, ReminderApi, Travel",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth",
                    "class",
                    "2 entries for 1 classes: no reply passes",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth",
                    "class",
                    "Travel is not among the involved classes",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "state",
                    "the milestones do not lead to the gold state: wrong number of class",
                ),
            ],
        ),
        (
            {"ground_truth": [{"BaseApi": {"wifi": True, "battery": 1}}]},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].BaseApi",
                    "attribute",
                    "battery is never compared (Q50)",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth[0].BaseApi",
                    "attribute",
                    "logged_in is missing: no reply passes",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "state",
                    "the milestones do not lead to the gold state: class(BaseApi) attributes(logged_in) missing in possible_answer.",
                ),
            ],
        ),
        (
            {"function": []},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "not offered",
                    "the milestones call 'turn_on_wifi', which is not offered",
                )
            ],
        ),
        (
            {"ground_truth": [{"BaseApi": {"wifi": True, "logged_in": "x" * 400}}]},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "state",
                    "the milestones do not lead to the gold state: class(BaseApi) attributes(logged_in) wrong, [expected: "
                    + "x" * 245,
                )
            ],
        ),
        (
            {"involved_classes": []},
            [
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth",
                    "class",
                    "1 entries for 0 classes: no reply passes",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 ground_truth",
                    "class",
                    "BaseApi is not among the involved classes",
                ),
                (
                    "en/possible_answer/data_CATEGORY.json:1 CATEGORY_0 mile_stone",
                    "state",
                    "the milestones do not lead to the gold state: wrong number of class",
                ),
            ],
        ),
    ],
)
def test_every_fault_of_an_episode_is_named_with_its_place(
    tmp_path: Path, changed: dict[str, Any], expected: list[tuple[str, ...]]
) -> None:
    assert reported(episode(tmp_path, **changed), STEP) == expected


def test_a_folder_without_data_and_one_without_a_sandbox_say_what_is_missing(tmp_path: Path) -> None:
    missing = "no folder en or zh; give a folder of ACEBench files"
    assert reported(tmp_path / "absent", SINGLE) == [("FOLDER", "files", f"FOLDER: {missing}")]
    for lang in ("en", "zh"):
        (tmp_path / lang).mkdir()
    empty = "expected files like data_CATEGORY.json, found none"
    assert reported(tmp_path, SINGLE) == [(lang, "files", f"{lang}: {empty}") for lang in ("en", "zh")]
    (episode(tmp_path) / "sandbox_messages.json").unlink()
    first, second = reported(tmp_path, SINGLE)
    assert first[:2] == ("FOLDER", "sandbox")
    assert first[2].startswith(
        "milestones were not run: the tables of the sandbox cannot be used: sandbox_messages.json"
    )
    assert second == ("zh", "files", f"zh: {empty}")
