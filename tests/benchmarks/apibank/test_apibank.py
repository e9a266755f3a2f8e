"""API-Bank: what each profile makes of calls and replies, its tools on hostile arguments, data and their faults."""

import json
import pickle
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.apibank.apibank_build import (
    DIALOGUE_LEVELS,
    HEALTH,
    PULSE,
    TABLES,
    TOKEN,
    described,
    write_data,
)
from long import a_fiftieth_of
from parity.cases import oracle_folder, present
from wildtool.benchmark import Check
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank.calls import bracketed_call, read_call, read_call_fixed
from wildtool.benchmarks.apibank.data import ToolLibrary, read_dialogues
from wildtool.benchmarks.apibank.source import COMMIT, REPOSITORY, part_paths
from wildtool.benchmarks.apibank.tools import API_TOOLS, ArgumentError, execute
from wildtool.data.pinned import official_folder
from wildtool.declared import lint
from wildtool.engine.score.audit import audit_profile
from wildtool.errors import DataError
from wildtool.types import Item

PROFILES = tuple(APIBANK.profiles)
ONE, TWO = "level-1-given-desc/one", "level-2-toolsearcher/one"
AGENDA = {"token": TOKEN, "content": "See the tide", "time": "2023-05-04 07:00:00", "location": "Pier"}
STOCK = {"stock_code": "ABC", "date": "2022-01-05"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("apibank"))


@pytest.fixture(scope="module")
def items(folder: Path) -> dict[str, Item]:
    return {item.id: item for item in APIBANK.load(APIBANK.data.locate(str(folder)))}


def unit_of(item: Item, position: int) -> str:
    """The last unit that wants a turn."""
    return [unit for unit, sample in item.data.samples.items() if sample.position == position][-1]


def check(profile: str, item: Item, position: int, text: str) -> Check:
    return APIBANK.rules(profile).check(item, unit_of(item, position), text)


def right(profile: str, item: Item, position: int, text: str) -> bool:
    return check(profile, item, position, text).correct


# Calls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("[A(x='it's ok', y='')]", {"x": "it's ok", "y": ""}),
        ("[A(x=-5.5, y=[1, 2])]", {"x": "-5.5", "y": "[1, 2]"}),
        ("[A(x='1',\n  y=\"a, b\")]", {"x": "1", "y": "a, b"}),
        ("Sure: [A(x='1')] [B(y='2')]", {"x": "1"}),
        ("[A(x='['John', 'Jane']')]", {"x": "['John', 'Jane']"}),
        ("[A(x='a \\'b\\' c')]", {"x": "a 'b' c"}),
        ("[A()]", {}),
    ],
)
def test_fixed_reads_values_to_their_end(text: str, arguments: dict[str, str]) -> None:
    call = read_call_fixed(text)
    assert call is not None
    assert (call.name, call.arguments) == ("A", arguments)


@pytest.mark.parametrize("text", ["", "A(x='1')", "[A(x='1'", "[A(x=')]", '{"name": "A"}'])
def test_fixed_reads_no_call_where_there_is_none(text: str) -> None:
    assert read_call_fixed(text) is None


@example("0\\'\\\"", "")
@given(st.text(), st.text(alphabet="[]()='\",\\ A1x\n.]", max_size=200))
def test_what_is_read_of_any_text_stands_in_it(text: str, marks: str) -> None:
    for one in (text, marks, f"[A(x='{text}')]"):
        for found in filter(None, (read_call(one), read_call_fixed(one))):
            assert found.text in one
            assert found.text.startswith(f"[{found.name}(")
            # Only the marks that a value is written in are escaped in it.
            readings = [found.text, *(found.text.replace(f"\\{mark}", mark) for mark in "'\"")]
            for name, value in found.arguments.items():
                assert name in found.text
                assert any(value in reading for reading in readings)


@pytest.mark.parametrize("read", [read_call, read_call_fixed])
@pytest.mark.parametrize("piece", ["[a(", "[a(x='", "a=[", "a" * 9, "''", "[a(x=", ")]", "=", " ", ",x"])
def test_a_long_text_is_read_like_a_short_one_or_given_up(read: Any, piece: str) -> None:
    """In quadratic time it would take minutes."""
    for begin in ("", "[a("):
        short, long = (read(begin + piece * count + ")]") for count in (3, 200_000 // len(piece)))
        assert (long and long.name) in (None, short and short.name)


def test_a_list_is_a_list_only_in_fixed(items: dict[str, Item]) -> None:
    text = bracketed_call("RecordHealthData", {**HEALTH, "health_data": PULSE})
    assert right("fixed", items[ONE], 1, text)
    assert not right("original", items[ONE], 1, text)


def test_all_arguments_count_in_fixed(items: dict[str, Item]) -> None:
    other = bracketed_call("RecordHealthData", {**HEALTH, "health_data": PULSE.replace("70", "71")})
    assert not right("fixed", items[ONE], 1, other)


def test_a_call_builds_on_the_calls_before_it_only_in_fixed(items: dict[str, Item]) -> None:
    text = bracketed_call("ForgotPassword", DIALOGUE_LEVELS["level-1-given-desc"][7]["param_dict"])
    assert right("fixed", items[ONE], 7, text)
    assert not right("original", items[ONE], 7, text)


def test_a_deleted_meeting_counts_only_in_fixed(items: dict[str, Item]) -> None:
    arguments = DIALOGUE_LEVELS["level-1-given-desc"][11]["param_dict"]
    assert right("fixed", items[ONE], 11, bracketed_call("DeleteMeeting", arguments))
    found = check("original", items[ONE], 11, bracketed_call("DeleteMeeting", arguments))
    assert (found.error, found.reason) == ("wrong result", "KeyError in correctness check")
    assert not right(
        "fixed", items[ONE], 11, bracketed_call("DeleteMeeting", {**arguments, "location": "Room 2"})
    )


@pytest.mark.parametrize("name", ["name", "device_id"])
def test_a_renamed_parameter_may_have_either_name_in_fixed(items: dict[str, Item], name: str) -> None:
    text = bracketed_call("TimedSwitch", {name: "lamp", "time": "2023-05-05 20:00:00", "on": "True"})
    assert right("fixed", items[ONE], 12, text)
    assert not right("original", items[ONE], 12, text)


def test_case_of_a_users_words_does_not_count_in_fixed(items: dict[str, Item]) -> None:
    text = bracketed_call("AddAgenda", {**AGENDA, "content": "see the TIDE"})
    assert right("fixed", items[ONE], 9, text)
    assert not right("original", items[ONE], 9, text)
    assert not right("fixed", items[ONE], 9, bracketed_call("AddAgenda", {**AGENDA, "token": TOKEN.upper()}))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("ABC costs 12.5", "no call"),
        (bracketed_call("QueryBalance", {"token": TOKEN}), "wrong API"),
        (bracketed_call("__import__", {"name": "os"}), "wrong API"),
        (bracketed_call("QueryStock", {"stock_code": "ABC"}), "wrong arguments"),
        (bracketed_call("QueryStock", {**STOCK, "zz": "1"}), "wrong arguments"),
        (bracketed_call("QueryStock", {**STOCK, "date": "2022-01-06"}), "wrong result"),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_each_mistake_in_a_call_has_its_class(
    items: dict[str, Item], profile: str, text: str, error: str
) -> None:
    assert check(profile, items[TWO], 2, text).error == error


def test_a_tool_search_is_answered_from_records_else_by_words(items: dict[str, Item]) -> None:
    recorded = check("original", items[TWO], 1, "[ToolSearcher(keywords='Stock price')]")
    assert (recorded.correct, recorded.fields["own_search"]) == (True, False)
    by_words = check("original", items[TWO], 1, "[ToolSearcher(keywords='query a stock')]")
    assert (by_words.correct, by_words.fields["own_search"]) == (True, True)
    assert not right("original", items[TWO], 1, "[ToolSearcher(keywords='play music')]")
    assert not right("original", items[TWO], 1, "[ToolSearcher(keywords='zzyzx')]")


def test_a_translation_is_found_by_the_name_of_its_language_too() -> None:
    library = ToolLibrary(described(), TABLES)
    library.recorded.add("Translate", {"src": "Hello", "tgt_lang": "fr"}, "Bonjour")
    for language in ("fr", "French"):
        found = execute(library.fresh(), "Translate", {"src": "hello", "tgt_lang": language})
        assert found.output == "Bonjour"
    assert execute(library.fresh(), "Translate", {"src": "Hello"}).output is None


# Replies ---------------------------------------------------------------------------------------------


def test_replies_of_dots_are_counted_where_the_original_raises(items: dict[str, Item]) -> None:
    found = check("toleap", items[TWO], 3, "...")
    assert (found.score, found.fields["reference_error"]) == (0, "ValueError")
    assert check("toleap", items[TWO], 3, "").fields.get("reference_error") is None


def test_fixed_compares_words_in_order_without_signs_and_prefix(items: dict[str, Item]) -> None:
    assert right("fixed", items[TWO], 3, "AI: it cost 12.5")
    assert check("toleap", items[TWO], 3, "AI: It cost 12.5.").score < 1  # type: ignore[operator]
    assert right("toleap", items[TWO], 3, "It cost 12.5. It cost 12.5.")
    assert check("fixed", items[TWO], 3, "It cost 12.5. It cost 12.5.").score == pytest.approx(2 * 4 / 12)


# Tools -----------------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.text(),
    st.sampled_from(
        ["", " ", TOKEN, "ann", "2023-05-01 10:00:00", "0-0-0", "../../etc/passwd", "$(id)", "{0.__class__}"]
    ),
    st.integers(),
    st.booleans(),
    st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=3)),
    st.lists(st.dictionaries(st.sampled_from(["name", "description", "value"]), st.text()), max_size=3),
)


@settings(max_examples=a_fiftieth_of(2_000))
@given(st.data(), st.sampled_from(sorted(API_TOOLS)))
def test_no_argument_makes_a_tool_raise(data: st.DataObject, tool: str) -> None:
    library = ToolLibrary(described(), TABLES)
    before = json.dumps(TABLES)
    names = [*library.parameters(tool), "zz"]
    arguments = data.draw(st.dictionaries(st.sampled_from(names), VALUES))
    if data.draw(st.booleans()):
        arguments = {name: arguments.get(name, "x") for name in names[:-1]}
    try:
        found = execute(library.fresh(), tool, arguments)
    except ArgumentError:
        return
    assert (found.exception is None) or (found.output is None)
    assert json.dumps(TABLES) == before


@settings(max_examples=a_fiftieth_of(1_500))
@given(st.data(), st.sampled_from(PROFILES))
def test_any_reply_gets_a_verdict(items: dict[str, Item], data: st.DataObject, profile: str) -> None:
    item = items[data.draw(st.sampled_from([ONE, TWO]))]
    unit = data.draw(st.sampled_from(item.units))
    turn = item.data.target(unit)
    arguments = {
        name: data.draw(st.text() | st.sampled_from(["[[", "[" * 300, "9" * 5000, "²", "True", "lambda: 0"]))
        for name in item.data.library.parameters(turn["api_name"])
    } if turn["role"] == "API" else {}  # fmt: skip
    call = bracketed_call(turn["api_name"], arguments) if arguments else data.draw(st.text())
    content = data.draw(st.sampled_from([call, None, 5, [{"text": call}], [None]]))
    episode = APIBANK.rules(profile).episode(item, unit)
    episode.advance({"role": "assistant", "content": content})
    assert 0 <= (APIBANK.rules(profile).verdict(episode, item, unit).score or 0) <= 1


@pytest.mark.parametrize(
    ("formula", "output", "exception"),
    [
        ("(1 + 2) * 3", 9, None),
        ("2+3*4-6/3", 12, None),
        ("8-2-1", 5, None),
        ("((1+2)*3)", None, "invalid formula"),
        ("1/0", None, "float division by zero"),
        ("2**3", None, "invalid formula"),
        ("__import__('os')", None, "invalid formula"),
        ("1" * 5000 + "+1", float("inf"), None),
    ],
)
def test_the_calculator_is_arithmetic_alone(formula: str, output: Any, exception: str | None) -> None:
    found = execute(ToolLibrary(described(), TABLES).fresh(), "Calculator", {"formula": formula})
    assert found.output == output
    if exception:
        assert exception in (found.exception, "float division by zero") and found.exception


@pytest.mark.parametrize(
    ("devices", "exception"),
    [
        ([{"name": "Lamp", "description": "in the hall"}], None),
        ([{"name": "Lamp"}], "Invalid device format."),
        ([{"description": "in the hall"}], "Invalid device format."),
        ([{"name": n, "description": ""} for n in ("Lamp", "lamp ")], "Device name cannot be duplicated."),
    ],
)
@pytest.mark.parametrize(("tool", "scene"), [("AddScene", "morning"), ("ModifyScene", "evening")])
def test_devices_of_a_scene_have_a_name_and_a_description(
    tool: str, scene: str, devices: list[Any], exception: str | None
) -> None:
    tables = ToolLibrary(described(), TABLES).fresh()
    assert execute(tables, tool, {"name": scene, "devices": devices}).exception == exception


def test_changes_last_in_one_tool_set_and_not_in_the_next() -> None:
    library = ToolLibrary(described(), TABLES)
    tables = library.fresh()
    assert execute(
        tables, "AddReminder", {"token": TOKEN, "content": "x", "time": "2023-06-01 10:00:00"}
    ).output
    query = {"token": TOKEN, "content": "x", "time": "2023-06-02 10:00:00"}
    assert execute(tables, "QueryReminder", query).output["content"] == "x"
    assert execute(library.fresh(), "QueryReminder", query).exception is not None


def test_there_are_53_tools() -> None:
    assert len(API_TOOLS) == 53


# Audit, data, command --------------------------------------------------------------------------------


def test_fixed_accepts_all_gold_and_catches_every_mistake(folder: Path) -> None:
    found = audit_profile(APIBANK, APIBANK.data.locate(str(folder)), "fixed")
    assert found.passed
    assert {kill.kind for kill in found.kills} >= {"value changed", "argument left out", "words repeated"}


@pytest.mark.parametrize("profile", ["toleap", "original"])
def test_what_the_others_refuse_or_miss_is_explained(folder: Path, profile: str) -> None:
    found = audit_profile(APIBANK, APIBANK.data.locate(str(folder)), profile)
    assert {wrong.why[:2] for wrong in found.wrong_gold} == {"Q1", "Q4", "Q5", "Q6"}
    assert {survivor.why[:3] for survivor in found.survivors} == {"Q13"}


def test_items_that_are_put_aside_share_the_tables_that_they_were_read_with(folder: Path) -> None:
    """Copied with each item, the tables took most of the time of an audit."""
    source = APIBANK.data.locate(str(folder))
    read = list(APIBANK.load(source))
    assert list(lint(APIBANK, source))  # reads its own library
    libraries = {id(item.data.library) for item in (*read, *map(pickle.loads, map(pickle.dumps, read)))}
    assert libraries == {id(read[0].data.library)}
    with pytest.raises(TypeError, match="from no folder"):
        pickle.dumps(ToolLibrary(described(), TABLES))


def test_samples_are_the_call_and_the_turn_after_it(items: dict[str, Item]) -> None:
    samples = items[TWO].data.samples.values()
    assert [(one.position, one.task, one.repeated) for one in samples] == [
        (1, "call", False),
        (2, "call", False),
        (2, "call", True),
        (3, "reply", False),
    ]
    assert "6" in items[ONE].units
    user_turn = [one.position for one in items[ONE].data.samples.values() if not one.task]
    assert user_turn == []


def test_the_mode_replies_asks_for_replies_alone(folder: Path) -> None:
    found = list(APIBANK.in_mode("replies").load(APIBANK.data.locate(str(folder))))
    assert {one.task for item in found for one in item.data.samples.values()} == {"reply"}


def test_calls_of_level_2_see_the_searcher_alone(items: dict[str, Item]) -> None:
    item = items[TWO]
    prompts = {}
    for unit, sample in item.data.samples.items():
        request = APIBANK.rules("toleap").episode(item, unit).request()
        assert request is not None
        prompts[sample.position] = request.messages[0]["content"]
    assert '"QueryStock"' not in prompts[2] and '"ToolSearcher"' in prompts[2]
    assert '"QueryStock"' in prompts[3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"role": "Bot"}, "role"),
        ({"role": "AI", "text": 5}, "text"),
        ({"role": "API", "api_name": "Nothing", "param_dict": {}, "result": {}}, "none of the 53 tools"),
        ({"role": "API", "api_name": "GetToday", "param_dict": [], "result": {}}, "param_dict"),
        (
            {"role": "API", "api_name": "GetToday", "param_dict": {}, "result": {"input": {}}},
            "output is missing",
        ),
    ],
)
def test_a_fault_in_a_turn_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_data(tmp_path)
    line = json.dumps({"file": "bad.jsonl", "turns": [change]})
    (tmp_path / "level-1-given-desc.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"level-1-given-desc\.jsonl:1 \(bad\.jsonl\): turns\[0\].*" + message
    ):
        list(read_dialogues(tmp_path, "level-1-given-desc"))
    (finding,) = lint(APIBANK, APIBANK.data.locate(str(tmp_path)))
    assert finding.rule == "unreadable"


def test_lint_names_calls_that_no_tool_takes_and_samples_asked_twice(folder: Path) -> None:
    rules = [finding.rule for finding in lint(APIBANK, APIBANK.data.locate(str(folder)))]
    assert rules.count("unknown parameter") == 1
    assert rules.count("sample asked twice") == 3
    assert rules.count("user turn as target") == 1


def test_missing_data_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="wildtool data pull apibank"):
        APIBANK.data.locate(None)
    with pytest.raises(DataError, match="level-1-given-desc"):
        APIBANK.data.locate(None, "level-3")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_trace_shows_the_call_that_was_read(profile: str) -> None:
    text = f"Sure. {bracketed_call('QueryStock', STOCK)}"
    (said,) = APIBANK.rules(profile).said({"content": text})
    assert said == ("QueryStock", STOCK)


# Pull ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's files, made again from the joined ones."""
    joined = present(oracle_folder("apibank")).parents[1] / "data" / "apibank"
    root = tmp_path_factory.mktemp("mirror")
    home = root / REPOSITORY / COMMIT / "api-bank"
    dialogues = {
        (level, file): turns
        for level in DIALOGUE_LEVELS
        for file, turns in read_dialogues(present(joined), level)
    }
    from wildtool.data.files import find_packed, read_json

    names = (find_packed(joined, f"{name}.json") for name in ("init_database", "api_descriptions"))
    tables, tools = (read_json(path) for path in names if path)
    classes = {name.lower(): about for name, about in tools.items()} | {"toolsearch": tools["ToolSearcher"]}
    for path in part_paths():
        target = home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        match path.parent.name:
            case "init_database":
                target.write_text(json.dumps(tables[path.stem], indent=1), encoding="utf-8")
            case "apis":
                about = classes[path.stem.replace("_", "")]
                fields = ("description", "input_parameters", "output_parameters")
                body = "".join(f"    {field} = {about[field]!r}\n" for field in fields)
                target.write_text(f"raise SystemExit\nclass {about['name']}(API):\n{body}", encoding="utf-8")
            case level:
                lines = (json.dumps(turn) + "\n" for turn in dialogues[level, path.name])
                target.write_text("".join(lines), encoding="utf-8")
    return root


@pytest.fixture
def mirror(checkout: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(checkout))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.long
def test_a_mirror_gives_the_verified_data(
    mirror: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    told: list[str] = []
    APIBANK.data.pull(file=None, mirror=mirror, report=told.append)
    assert len(list(APIBANK.load(APIBANK.data.locate(None)))) == 261
    APIBANK.data.pull(file=None, mirror="http://127.0.0.1:1", report=told.append)
    folder = official_folder("apibank")
    assert told == [
        f"fetching {len(part_paths())} files of {mirror}/{REPOSITORY}/{COMMIT}/api-bank",
        f"{folder}: 4 files, verified by SHA-256 of their contents",
        f"source: {REPOSITORY}, folder api-bank, at commit {COMMIT}; licence: Apache-2.0",
        f"{folder}: all files are there and verified",
    ]


def test_a_checkout_is_read_without_network(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    APIBANK.data.pull(file=checkout / REPOSITORY / COMMIT, mirror=None, report=lambda _: None)
    assert APIBANK.data.locate(None).name == "official"


def test_other_data_are_not_installed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="level-1-given-desc is not that of commit"):
        APIBANK.data.pull(file=folder, mirror=None, report=lambda _: None)
    assert not official_folder("apibank").exists()
    with pytest.raises(DataError, match="holds neither"):
        APIBANK.data.pull(file=tmp_path, mirror=None, report=lambda _: None)
