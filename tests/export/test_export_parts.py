"""Parts of exports: which requests go on, what a message means, what is merged, which files a bundle holds."""

import json
import logging
import os
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from export.export_build import ITEM, json_lines, play, written
from export.recorded_forms import (
    CALL,
    CALLED,
    METRICS,
    RESULT,
    RUN_JSON,
    SYSTEM,
    TOOLS,
    USER,
    reply_step,
    result,
)
from golden_files import same_as_golden
from wildtool import __version__
from wildtool.alter.variant import Variant
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.export import EXPORT_FORMATS, ExportRequest, bundle, hub_card, hub_results, openai
from wildtool.export.conversations import (
    ExportedConversation,
    conversations,
    message_meaning,
    parsed_arguments,
    readable_calls,
)
from wildtool.export.files import portable_value, strict_json, write_json_lines
from wildtool.export.repeats import merged_conversations, sessions_of, with_remark_on_repeats
from wildtool.export.sharegpt import conversation_row
from wildtool.export.trajectory import RecordedRun, RecordedUnit, replayed_requests
from wildtool.types import Item, Message, Metric, Request, Verdict

ONE, TWO = {"role": "assistant", "content": "1"}, {"role": "assistant", "content": "2"}
NEXT = {"role": "user", "content": "next"}


def talks(*steps: Any, **more: Any) -> list[tuple[list[Message], tuple[int, ...]]]:
    unit = RecordedUnit(Item("i", ("0",), None), 0, steps, Verdict("i", "0", "correct", 1, None, "", 1))
    return [(list(talk.messages), talk.replies) for talk in conversations(unit, **more)]


def test_requests_that_continue_each_other_are_one_conversation():
    first, second = reply_step([USER], ONE), reply_step([USER, ONE, NEXT], TWO)
    assert talks() == []
    assert talks(first) == [([USER, ONE], (1,))]
    assert talks(first, second) == [([USER, ONE, NEXT, TWO], (1, 3))]
    assert talks(first, reply_step([], ONE, role="user"), second) == talks(first, second)
    other = [
        reply_step([USER], TWO),
        reply_step([USER, TWO, NEXT], TWO),
        reply_step([NEXT, ONE, NEXT], TWO),
        reply_step([USER, USER], TWO),
    ]
    for step in other:
        assert talks(first, step) == talks(first) + talks(step)
    with_tools = reply_step([USER, ONE, NEXT], TWO)
    bare = with_tools.__class__("agent", with_tools.messages, [], with_tools.result, 0.0)
    assert len(talks(first, bare)) == 2
    thinking = reply_step([USER], {**ONE, "reasoning": "Hm."})
    assert len(talks(thinking, second)) == 1
    assert len(talks(thinking, second, reasoning=True)) == 2
    assert len(talks(thinking, reply_step([USER, {**ONE, "reasoning": "Hm."}], TWO), reasoning=True)) == 1


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ({"role": "user", "content": "q", "name": "n", "k": 1}, ["user", "n", "q"]),
        (ONE, ["assistant", "1", [], ["", "", "", ""]]),
        ({"role": "assistant", "content": None}, ["assistant", "", [], ["", "", "", ""]]),
        (CALLED, ["assistant", "", [["level", {"x": 1}]], ["Hm.", "", "", ""]]),
        (
            {"role": "assistant", "content": "", "tool_calls": [5], "thinking": "t"},
            ["assistant", "", [5], ["", "", "t", ""]],
        ),
        (
            {"role": "assistant", "content": "1", "reasoning_details": [{"text": "t"}]},
            ["assistant", "1", [], ["", "", "", [{"text": "t"}]]],
        ),
        ({"role": "assistant", "tool_calls": "none"}, ["assistant", "", "none", ["", "", "", ""]]),
    ],
)
def test_what_a_message_means(message: Message, meaning: list[Any]):
    assert message_meaning(message, reasoning=True) == meaning
    plain = [*meaning[:3], []] if meaning[0] == "assistant" else meaning
    assert message_meaning(message, reasoning=False) == plain


def test_calls_and_arguments_that_can_be_read():
    function = {"name": "f", "arguments": "{}"}
    assert readable_calls([{"function": function}]) == [{"function": function}]
    for odd in ([], None, "x", {}, [5], [{"function": {**function, "k": 1}}], [{"function": {"name": "f"}}]):
        assert readable_calls(odd) is None
    assert readable_calls([{"function": function}, {"function": {**function, "arguments": {}}}]) is None
    values = ('{"a": 1}', {"a": 1}, "[1]", "{", 5, None)
    assert [parsed_arguments(value) for value in values] == [{"a": 1}, {"a": 1}, "[1]", "{", 5, None]


# Repeats ---------------------------------------------------------------------------------------------


def row(unit: str, *messages: Message, replies: tuple[int, ...] = (), tools: Any = (), **more: Any) -> Any:
    return {"item": "i", "repeat": 0, "unit": unit, **more}, ExportedConversation(messages, tools, replies)


def merged(*rows: Any) -> tuple[list[tuple[str, tuple[int, ...]]], Counter[str]]:
    notes: Counter[str] = Counter()
    found = [(fields["unit"], talk.replies) for fields, talk in merged_conversations(list(rows), notes)]
    return found, notes


def test_beginnings_of_a_longer_conversation_are_merged_into_it():
    short, long = row("0", USER, ONE, replies=(1,)), row("1", USER, ONE, NEXT, TWO, replies=(3,))
    assert merged(short, long) == ([("1", (1, 3))], {"merged": 1})
    assert merged(long, short) == merged(short, long)
    assert merged(short, row("2", USER, ONE, replies=(1,))) == ([("0", (1,))], {"merged": 1})
    other = row("2", USER, TWO, replies=(1,))
    assert merged(other, long, short) == ([("2", (1,)), ("1", (1, 3))], {"merged": 1})
    assert merged(long) == ([("1", (3,))], {"other-history": 1})
    assert merged(other, long) == ([("2", (1,)), ("1", (3,))], {"other-history": 1})
    whole = row("3", SYSTEM, USER, NEXT, ONE, NEXT, TWO, replies=(3, 5))
    assert merged(whole) == ([("3", (3, 5))], {})
    tooled = row("2", USER, ONE, replies=(1,), tools=TOOLS)
    assert merged(tooled, long) == ([("2", (1,)), ("1", (3,))], {"other-history": 1})
    thinking = row("2", USER, {**ONE, "reasoning": "Hm."}, replies=(1,))
    assert len(merged(thinking, long)[0]) == 2


def test_sessions_are_items_and_repeats_and_a_remark_counts(caplog: pytest.LogCaptureFixture):
    rows = [
        row("0", USER, ONE, replies=(1,)),
        row("1", USER, ONE, NEXT, TWO, replies=(3,)),
        row("0", USER, ONE, replies=(1,), repeat=1),
        row("0", USER, ONE, replies=(1,), item="j"),
        row("0", USER, ONE, replies=(1,), item="j"),
    ]
    assert [len(session) for session in sessions_of(rows)] == [2, 1, 2]
    with caplog.at_level(logging.WARNING, "wildtool"):
        assert list(with_remark_on_repeats(rows)) == rows
        assert list(with_remark_on_repeats(rows[2:4])) == rows[2:4]
    assert caplog.messages == [
        "2 of 5 conversations are the beginning of another one, so that their replies are learned several times;"
        " `wildtool data convert RUN --to sharegpt` learns each once"
    ]


# Rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "row", "objects"),
    [
        (USER, USER, USER),
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": None}, None),
        (
            {"role": "user", "content": [1], "k": {"a": "é"}},
            {"role": "user", "content": "[1]", "more": '{"content":[1],"k":{"a":"é"}}'},
            None,
        ),
        ({"role": None, "name": 5}, {"more": '{"role":null,"name":5}'}, None),
        (
            CALLED,
            CALLED,
            {**CALLED, "tool_calls": [{**CALL, "function": {"name": "level", "arguments": {"x": 1}}}]},
        ),
        (
            {"tool_calls": [{**CALL, "k": "v"}]},
            {"more": json.dumps({"tool_calls": [{**CALL, "k": "v"}]}, separators=(",", ":"))},
            None,
        ),
        (
            {"tool_calls": [{**CALL, "id": None}]},
            {"more": json.dumps({"tool_calls": [{**CALL, "id": None}]}, separators=(",", ":"))},
            None,
        ),
        (
            {"tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]},
            {"tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]},
            {"more": '{"tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]}'},
        ),
        ({"tool_calls": []}, {"more": '{"tool_calls":[]}'}, None),
    ],
)
def test_a_message_with_fields_of_stable_types(message: Message, row: Any, objects: Any):
    assert openai.message_row(message) == row
    assert openai.message_row(message, objects=True) == (row if objects is None else objects)
    assert openai.row_messages({"messages": [{"added": None, **row}]}) == [message]


def test_arguments_of_a_chat_template():
    loaded = {"name": None, "more": None}
    rows = [
        {**loaded, **USER},
        {**loaded, **CALLED, "content": None},
        {**loaded, "role": "assistant", "tool_calls": []},
    ]
    call = {**CALL, "function": {"name": "level", "arguments": {"x": 1}}}
    assert openai.for_template({"messages": rows, "tools": '[{"a": 1}]'}) == {
        "conversation": [
            USER,
            {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_content": "Hm."},
            {"role": "assistant", "content": "", "tool_calls": []},
        ],
        "tools": [{"a": 1}],
    }
    assert openai.for_template({"messages": [], "tools": ""}) == {"conversation": [], "tools": None}


def sharegpt(*messages: Message, tools: Any = (), **more: Any) -> dict[str, Any]:
    return conversation_row(ExportedConversation(messages, tools, ()), **more)


def test_turns_of_sharegpts_shape():
    odd = {"role": "assistant", "content": "t", "tool_calls": [{"function": {"name": "f"}}], "refusal": ""}
    both = [CALL, {"function": {"name": "f", "arguments": "["}}]
    found = sharegpt(
        {"role": "system", "content": "S", "k": 1},
        {"role": "system", "content": "T"},
        {"role": "developer", "content": "D"},
        {"role": 5, "content": {"a": "é"}, "k": 2},
        {"role": "assistant", "content": "t", "tool_calls": both},
        {"role": "tool", "content": "1", "name": "n"},
        {"role": "tool", "content": [2]},
        odd,
        {"role": "tool", "content": None},
        {"role": "assistant", "content": None},
        tools=[{"name": "bare"}, {"function": {"name": "f", "parameters": 5}}],
        lossless=True,
    )
    nothing = {"type": "object", "properties": {}}
    assert found == {
        "conversations": [
            {"from": "system", "value": "T"},
            {"from": "developer", "value": "D"},
            {"from": "human", "value": '{"a": "é"}', "more": '{"message": {"k": 2, "content": {"a": "é"}}}'},
            {
                "from": "function_call",
                "value": '[{"name": "level", "arguments": {"x": 1}}, {"name": "f", "arguments": "["}]',
                "more": '{"calls": [{"id": "a", "type": "function"}, {}], "message": {"content": "t"}}',
            },
            {"from": "observation", "value": '["1", "[2]"]', "more": '{"results": [{"name": "n"}, {}]}'},
            {
                "from": "gpt",
                "value": "t",
                "more": '{"message": {"refusal": "", "tool_calls": [{"function": {"name": "f"}}]}}',
            },
            {"from": "observation", "value": "null", "more": '{"results": [{}]}'},
            {"from": "gpt", "value": "", "more": '{"message": {"content": null}}'},
        ],
        "system": "S",
        "tools": json.dumps([{"name": "bare", "parameters": nothing}, {"name": "f", "parameters": nothing}]),
    }
    assert sharegpt(USER, {"role": "system", "content": "S"}) == {
        "conversations": [{"from": "human", "value": "q"}, {"from": "system", "value": "S"}],
        "system": "",
        "tools": "",
    }
    kept = {"role": "assistant", "content": "a", "k": 1}
    assert sharegpt(kept)["conversations"] == [{"from": "gpt", "value": "a"}]
    assert sharegpt() == {"conversations": [], "system": "", "tools": ""}


def test_json_that_every_reader_accepts(tmp_path: Path):
    deep: Any = "x"
    for _ in range(210):
        deep = [deep]
    odd = {"a": "\ud800", "b": [float("nan"), float("-inf"), 1.5, 10**30], "c": True}
    assert portable_value(odd) == {"a": "\ufffd", "b": [None, None, 1.5, 10**30], "c": True}
    assert (
        strict_json(odd)
        == '{"a":"\ufffd","b":[null,null,1.5,1000000000000000000000000000000],"c":true}'.encode()
    )
    cut = json.dumps(portable_value(deep), ensure_ascii=False)
    assert (cut.count("["), "…" in cut) == (201, True)
    write_json_lines(tmp_path / "f", [{"a": "b\u2028c"}, {"é": 1}])
    text = (tmp_path / "f").read_text(encoding="utf-8")
    assert text.splitlines()[-1] == '{"é":1}' and text.count("\n") == 2 and text.endswith("\n")
    assert json_lines(tmp_path / "f") == [{"a": "b\u2028c"}, {"é": 1}]


# Hub -------------------------------------------------------------------------------------------------


def hub(monkeypatch: pytest.MonkeyPatch, place: Path, dataset: str | None, **more: Any) -> str:
    """The file of a headline."""
    fields: dict[str, Any] = {"evidence": Evidence(3), "metrics": METRICS[:2]}
    found = result(**{**fields, **more})
    monkeypatch.setattr(hub_results, "load_result", lambda folder, profile, data: found)
    monkeypatch.setattr(hub_results, "read_run", lambda folder: RUN_JSON)
    hub_results.export(ExportRequest(folder=Path("r"), hub_dataset=dataset), place / "h.yaml")
    return (place / "h.yaml").read_text()


def test_the_headline_for_a_models_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(hub_results, "played_and_judged", lambda found: "played so")
    notes = f"played so, wildtool {__version__}, data SHA-256 {'d' * 64}"
    assert hub(monkeypatch, tmp_path, "o/n:t") == (
        '# written by wildtool export\n- dataset: {"id": "o/n", "task_id": "t"}\n  value: 50.0\n'
        '  date: "2026-01-02T01:00:00+00:00"\n'
        f'  notes: "task, 95 % interval 25.0 to 75.0, 3 units, {notes}"\n'
    )
    third = Metric("accuracy", "task", 1 / 3, 1, 3, 1 / 6, 2 / 3, headline=True)
    (entry,) = yaml.safe_load(hub(monkeypatch, tmp_path, "o/n", metrics=(third,)))
    assert entry["value"] == 33.33
    assert entry["notes"] == f"task, 95 % interval 16.67 to 66.67, 3 units, {notes}"
    alone = Metric("cost", "tokens", 20.5, 41, 2, kind="mean", headline=True)
    monkeypatch.setitem(RUN_JSON, "sittings", RUN_JSON["sittings"][:1])
    (entry,) = yaml.safe_load(hub(monkeypatch, tmp_path, "o/n", metrics=(alone,)))
    assert (entry["dataset"], entry["value"]) == ({"id": "o/n", "task_id": "default"}, 20.5)
    assert entry["notes"] == f"tokens, 3 units, {notes}"
    assert entry["date"] == "2026-01-01T00:00:00+00:00"


def test_what_the_hubs_tables_cannot_mark_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    name = "name the benchmark's dataset on the Hub: --hub-dataset OWNER/NAME or OWNER/NAME:TASK"
    missing = (
        "units have no verdict, or the benchmark has no headline; run the same command again to complete it"
    )
    for dataset, more, problem in (
        *((bad, {}, name) for bad in (None, "", "n", "o/", "/n", "a/b/c", "o:t/x")),
        ("o/n", {"evidence": Evidence(3, 1, 1)}, f"r: 2 of 3 {missing}"),
        ("o/n", {"metrics": ()}, f"r: 0 of 3 {missing}"),
        (
            "o/n",
            {"part": "--limit 10"},
            "r: the run has --limit 10, for which the Hub's tables have no mark; export a run of the whole"
            " benchmark as it is",
        ),
        (
            "o/n",
            {"part": "--limit 10", "alterations": (SimpleNamespace(described="hints"),)},
            "r: the run has --limit 10, hints, for which the Hub's tables have no mark; export a run of the whole"
            " benchmark as it is",
        ),
    ):
        with pytest.raises(UsageError) as refused:
            hub(monkeypatch, tmp_path, dataset, **more)
        assert str(refused.value) == problem


def test_a_dataset_card_says_what_was_run_word_by_word():
    counts = SimpleNamespace(units=3, correct=1, wrong=0, infra_error=1, unplayed=1)
    complete = result(profile="official", evidence=Evidence(3), counts=counts, metrics=METRICS[:1])
    altered = result(
        profile="paper",
        played=None,
        alterations=(SimpleNamespace(described="10 *tools* more"), SimpleNamespace(described="hints")),
        trust=("Remark _one_.", "Remark two."),
        roles={},
    )
    identity = {**RUN_JSON["identity"], "split": None, "mode": "chat", "seed": None}
    for name, run_json, results in (
        ("two_profiles", RUN_JSON, [result(), complete]),
        ("altered", {**RUN_JSON, "identity": identity}, [altered]),
    ):
        page = hub_card._page(run_json, results)  # pyright: ignore[reportPrivateUsage]
        assert set(yaml.safe_load(page.split("---\n")[1])) == {"pretty_name", "license", "tags", "configs"}
        same_as_golden(f"export/dataset_card_{name}.md", page.replace(__version__, "VERSION"))


def test_cells_show_any_text_on_one_line():
    cell, clean = hub_card._cell, hub_card._clean  # pyright: ignore[reportPrivateUsage]
    assert cell("a|b*_`<x>\\$~\n") == "a\\|b\\*\\_\\`\\<x\\>\\\\\\$\\~\ufffd"
    assert clean("x" * 200) == "x" * 200
    assert clean("x" * 201) == "x" * 199 + "…"
    assert clean(5) == "5"


# Bundles ---------------------------------------------------------------------------------------------


def test_a_bundle_with_a_folder_of_data_has_its_public_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = tmp_path / "my data"
    for name in ("b.json", "sub/a.json", ".hidden", "sub/.git/x", "sub/c.txt"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name)
    (data / "link").symlink_to(data / "b.json")
    judging = SimpleNamespace(selection=SimpleNamespace(source=SimpleNamespace(path=data)))
    monkeypatch.setattr(bundle, "prepare_judging", lambda folder, profile, data: judging)
    members = bundle._data  # pyright: ignore[reportPrivateUsage]
    place, found = members(ExportRequest(folder=tmp_path))
    assert place.startswith("data/my_data-")
    assert {name: b"".join(blocks()).decode() for name, blocks in found.items()} == {
        f"{place}/{name}": name for name in ("b.json", "sub/a.json", "sub/c.txt")
    }
    judging.selection.source.path = data / "b.json"
    place, found = members(ExportRequest(folder=tmp_path))
    assert (place, [b"".join(blocks()) for blocks in found.values()]) == ("data/b.json", [b"b.json"])


def blocks(*parts: bytes) -> Any:
    return lambda: iter(parts)


def test_members_of_a_bundle_are_sorted_and_their_digests_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "x.zip"
    write = bundle._write  # pyright: ignore[reportPrivateUsage]
    write(target, {"b": blocks(b"12", b"3"), "a": blocks()}, {"k": 1})
    with ZipFile(target) as archive:
        infos = archive.infolist()
        assert [info.filename for info in infos] == ["a", "b", "manifest.json"]
        assert {
            (info.create_system, info.external_attr, info.compress_type, info.date_time) for info in infos
        } == {(3, 0o100644 << 16, 8, (1980, 1, 1, 0, 0, 0))}
        assert json.loads(archive.read("manifest.json")) == {
            "k": 1,
            "members": {
                "a": {"size": 0, "sha256": sha256(b"").hexdigest()},
                "b": {"size": 3, "sha256": sha256(b"123").hexdigest()},
            },
        }
    monkeypatch.setattr(bundle, "MAX_BUNDLE_BYTES", 3)
    write(target, {"b": blocks(b"123")}, {})
    with pytest.raises(UsageError) as refused:
        write(target, {"b": blocks(b"1234")}, {})
    assert str(refused.value) == f"{target}: the run is larger than a bundle may be (0 GiB)"


def test_values_of_keys_are_found_across_blocks(monkeypatch: pytest.MonkeyPatch):
    for name in list(os.environ):
        if any(word in name.upper() for word in ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")):
            monkeypatch.delenv(name)
    check = bundle._without_keys  # pyright: ignore[reportPrivateUsage]
    parts = [b"abc1234", b"567", b"8"]
    assert list(check("m", iter(parts))) == parts
    for name in ("MY_KEY", "a_token", "SECRETS", "PASSWORD1", "credentials"):
        monkeypatch.setenv(name, "12345678")
        with pytest.raises(UsageError) as refused:
            list(check("m", iter(parts)))
        assert str(refused.value) == (
            f"m holds the value of the environment variable {name}, so it is not bundled; take it out, or unset the"
            " variable if its value is no secret"
        )
        monkeypatch.setenv(name, "1234567")
        assert list(check("m", iter(parts))) == parts
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLAIN", "12345678")
    assert list(check("m", iter(parts))) == parts
    monkeypatch.setenv("MY_KEY", os.fsdecode(b"no text \xff"))
    assert list(check("m", iter(parts))) == parts
    with pytest.raises(UsageError):
        list(check("m", iter([b"x no text \xff x"])))


def test_run_json_of_a_bundle_has_no_local_paths():
    shareable = bundle._shareable  # pyright: ignore[reportPrivateUsage]
    given = {
        "data": {"name": "/x/y/d.jsonl", "path": "/x/y/d.jsonl", "benchmark_file": "/x/b.py", "k": 1},
        "sittings": [{"command": ["/usr/bin/wildtool", "run", "--out", "/x/out", "rel/path"], "n": 1}],
        "other": 5,
    }
    sittings = [{"command": ["wildtool", "run", "--out", "out", "rel/path"], "n": 1}]
    data = {"name": "d.jsonl", "path": "d.jsonl", "benchmark_file": "b.py", "k": 1}
    assert shareable(given, None) == {"data": data, "sittings": sittings, "other": 5}
    assert shareable(given, "data/d")["data"]["path"] == "data/d"
    plain = {"data": {"name": "wild-mini", "path": "/x"}, "sittings": []}
    assert shareable(plain, None)["data"] == {"name": "wild-mini", "path": "wild-mini"}
    assert bundle.data_name({"data": {"name": "/"}}) == "/"


def test_a_bundle_is_named_by_its_run(tmp_path: Path):
    folder = play(tmp_path / "my run")
    with ZipFile(written("bundle", folder, tmp_path)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    about = json.loads((folder / "run.json").read_text())
    assert manifest["run"].startswith("my_run-")
    assert manifest["data"] == {
        "name": "wild-mini",
        "sha256": about["identity"]["data_sha256"],
        "member": None,
    }
    assert manifest["wildtool"] == __version__


def test_formats_of_an_export():
    assert {
        name: (entry.suffix, entry.module, entry.function, entry.options, entry.folder)
        for name, entry in EXPORT_FORMATS.items()
    } == {
        "inspect": (".eval", "export.inspect_log", "export", ("profile",), False),
        "parquet": (".parquet", "export.tables", "export_parquet", ("profile",), False),
        "csv": (".csv", "export.tables", "export_csv", ("profile",), False),
        "openai": (".openai.jsonl", "export.openai", "export", ("profile", "only", "arguments"), False),
        "sharegpt": (".sharegpt.jsonl", "export.sharegpt", "export", ("profile", "only", "lossless"), False),
        "pairs": (
            ".pairs.jsonl",
            "sets.prepare.run_pairs",
            "export",
            ("profile", "allow_benchmark_data"),
            False,
        ),
        "hf-card": ("-dataset", "export.hub_card", "export", ("profile",), True),
        "hf-results": (
            ".eval-results.yaml",
            "export.hub_results",
            "export",
            ("profile", "hub_dataset"),
            False,
        ),
        "eee": ("-eee", "export.eee", "export", ("profile",), True),
        "atif": ("-atif", "export.atif", "export", ("profile", "only"), True),
        "passport": (".passport.json", "board.passport", "export", ("profile",), False),
        "bundle": (".bundle.zip", "export.bundle", "export", ("with_data",), False),
    }


def test_messages_of_the_small_run_are_those_of_its_conversation():
    assert talks(reply_step([SYSTEM, USER], CALLED), reply_step([SYSTEM, USER, CALLED, RESULT], ONE)) == [
        ([SYSTEM, USER, CALLED, RESULT, ONE], (2, 4))
    ]


# Runs ------------------------------------------------------------------------------------------------


def test_a_run_is_named_by_its_settings_profile_and_record(tmp_path: Path):
    folder = play(tmp_path / "run")
    about = json.loads((folder / "run.json").read_text())
    record = (folder / "record-0001.jsonl").read_bytes()

    def name(profile: str, start: bytes, sittings: Any) -> str:
        identity = f"{folder.name}\n{profile}\n{about['identity']}\n{sittings}\n"
        return sha256(identity.encode() + start[:4096]).hexdigest()[:22]

    for profile in ("official", "fixed"):
        recorded = RecordedRun(ExportRequest(folder=folder, profile=profile))
        assert recorded.name == name(profile, record, about["sittings"][:1])
    with (folder / "record-0001.jsonl").open("ab") as file:
        file.write(b"\n")
    (folder / "record-0002.jsonl").write_bytes(record)
    assert RecordedRun(ExportRequest(folder=folder)).name == name("official", record, about["sittings"][:1])


def test_every_step_of_a_run_is_read_with_its_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        return request.gold("parallel") if request.gold else {}

    folder = play(tmp_path / "run", answer, concurrency=1)
    found = list(RecordedRun(ExportRequest(folder=folder)).units())
    assert [(unit.item.id, unit.repeat, unit.verdict.unit, unit.verdict.outcome) for unit in found] == [
        (ITEM, 0, str(number), "correct") for number in range(4)
    ]
    read = [step for unit in found for step in unit.steps]
    assert len(read) == len(asked)
    shown = sorted(json.dumps([list(request.messages), list(request.tools)]) for request in asked)
    assert sorted(json.dumps([list(step.messages), list(step.tools)]) for step in read) == shown
    assert all(step.role == "agent" and step.time > 0 for step in read)
    # Where requests were not recorded, they are found by playing again.
    log = {
        unit.verdict.unit: {number: step.result for number, step in enumerate(unit.steps)} for unit in found
    }
    variant = RecordedRun(ExportRequest(folder=folder)).run.variant
    again = replayed_requests(variant, found[0].item, log, "official")
    assert list(again) == [(unit.verdict.unit, number) for unit in found for number in range(len(unit.steps))]
    for unit in found:
        for number, step in enumerate(unit.steps):
            request = again[unit.verdict.unit, number]
            assert (list(request.messages), list(request.tools), request.time) == (
                list(step.messages),
                list(step.tools),
                0.0,
            )
    # Where units follow from earlier ones, an item has what was said in them.
    assert not any(unit.item.transcripts for unit in found)
    monkeypatch.setattr(Variant, "in_order", True)
    for unit in RecordedRun(ExportRequest(folder=folder)).units():
        assert {name: len(said.replies) for name, said in unit.item.transcripts.items()} == {
            each.verdict.unit: len(each.steps) for each in found
        }
