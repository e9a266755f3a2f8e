"""Bundles of strangers: whatever is done to a real one, no error ends the board, and no rank is gained."""

import json
import random
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import duckdb
import pytest

from board.board_page import Entry, built, command
from board.small_official import two_official_sessions
from board.test_board import Counted
from long import WHOLE, a_fiftieth_of
from report.report_build import play
from wildtool.engine.record.format import seal_line

RECORD, VERDICTS = "record-0001.jsonl", "verdicts-official.parquet"
OF_ONE_BOARD = 70
"""Mutated bundles that are built into one board: what is said once costs no more for many."""
ATTACK = "<img src=x onerror=alert(1)>"
SURROGATE, NAN = "\ud800", float("nan")


# A bundle in parts, and what is done to it ---------------------------------------------------------------


@dataclass
class Parts:
    """A bundle before it is packed, with its passport."""

    members: dict[str, bytes]
    manifest: Any
    passport: Any
    is_honest: bool = True
    """Whether manifest and passport get the digests of what is packed, as somebody would do who knows the format."""
    has_other_verdicts: bool = False
    """Whether its table of verdicts was changed."""
    infos: dict[str, Callable[[ZipInfo], None]] = field(default_factory=dict[str, Any])
    """What is done to the entry of a member."""
    more: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    """Members that nothing names."""
    after: Callable[[bytes], bytes] = bytes
    """What is done to the packed file."""

    def rows(self) -> list[dict[str, Any]]:
        names = (name for name in sorted(self.members) if re.fullmatch(r"record-\d+\.jsonl", name))
        rows = (json.loads(line) for name in names for line in self.members[name].splitlines())
        return [{key: value for key, value in row.items() if key not in ("synced", "crc32")} for row in rows]

    def set_rows(self, rows: list[Any]) -> None:
        lines = (json.dumps(row).encode() for row in rows)
        self.members[RECORD] = b"".join(seal_line(line, 0) for line in lines)

    def run_json(self) -> dict[str, Any]:
        return json.loads(self.members["run.json"])

    def set_run_json(self, value: Any) -> None:
        self.members["run.json"] = json.dumps(value).encode()

    def judged(self) -> Any:
        """What is judged of each reply, by its place; None where the record cannot be read."""
        judged: dict[Any, Any] = {}
        try:
            for row in self.rows():
                if row["row"] == "header":
                    continue
                message, usage = row.get("message", {}), row.get("usage", {})
                value = [
                    *(row["row"], row["role"], row["request"], row.get("raw"), row.get("finish_reason")),
                    *(message.get(key) for key in ("content", "tool_calls", "refusal")),
                    *(usage.get(key) for key in ("prompt_tokens", "completion_tokens")),
                ]
                judged.setdefault(json.dumps([row[key] for key in ("item", "repeat", "unit", "step")]), value)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return judged

    def write(self, bundle: Path) -> None:
        manifest = self.manifest
        if self.is_honest and isinstance(manifest, dict):
            digests = {
                name: {"size": len(text), "sha256": sha256(text).hexdigest()}
                for name, text in self.members.items()
            }
            manifest = {"members": digests} | manifest
        packed = BytesIO()
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            every = [*self.members.items(), ("manifest.json", json.dumps(manifest).encode()), *self.more]
            for name, text in every:
                info = ZipInfo(name)
                info.compress_type = ZIP_DEFLATED
                self.infos.get(name, lambda info: None)(info)
                archive.writestr(info, text)
        content = self.after(packed.getvalue())
        bundle.write_bytes(content)
        claims = self.passport
        if self.is_honest and isinstance(claims, dict):
            claims = claims | {"bundle": {"sha256": sha256(content).hexdigest()}}
        place = bundle.with_name(bundle.name.replace(".bundle.zip", ".passport.json"))
        place.write_text(json.dumps(claims), "utf-8")


def parts_of(bundle: Path) -> Parts:
    with ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    del manifest["members"]
    place = bundle.with_name(bundle.name.replace(".bundle.zip", ".passport.json"))
    return Parts(members, manifest, json.loads(place.read_text("utf-8")))


HOSTILE_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    10**9,
    10**30,
    -(2**63),
    1.5,
    1e308,
    NAN,
    float("inf"),
    "",
    "x",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\x",
    "\x00",
    "\x1b[31m",
    SURROGATE,
    "\u202eabc",
    ATTACK,
    "x" * 10_000,
    "fixed",
    "wildtoolbench",
    "bfcl",
    "baseline/gold",
    "2026-01-01",
    {},
    [],
    {"size": 2, "seed": 0},
    {"size": 2, "sort": 1},
    [None],
    [{}],
    {"": {}},
]


def hostile_value(draw: random.Random) -> Any:
    if draw.random() < 0.1:
        deep: Any = []
        for _ in range(draw.choice([3, 600])):
            deep = [deep]
        return deep
    return deepcopy(draw.choice(HOSTILE_VALUES))


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container with each of its keys."""
    entries = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    for key, inner in entries:
        yield value, key
        yield from places_in(inner)


def change_somewhere(value: Any, draw: random.Random) -> None:
    """One value of a JSON document becomes another, goes, or gets company."""
    container, key = draw.choice(list(places_in(value)))
    match draw.randrange(4):
        case 0:
            del container[key]
        case 1 if isinstance(container, dict):
            names = [
                "sample",
                "noise",
                "hints",
                "failures",
                "injection",
                "history",
                "catalogue",
                "rationale",
                "spent",
            ]
            container[draw.choice([*names, "benchmark_file", SURROGATE, "a/b", ""])] = hostile_value(draw)
        case _:
            container[key] = hostile_value(draw)


# Mutations of files --------------------------------------------------------------------------------------


def drop_member(parts: Parts, draw: random.Random) -> None:
    del parts.members[draw.choice(list(parts.members))]


def swap_members(parts: Parts, draw: random.Random) -> None:
    one, other = draw.sample(list(parts.members), 2)
    parts.members[one] = parts.members[other]


def garble_member(parts: Parts, draw: random.Random) -> None:
    name = draw.choice(list(parts.members))
    text = parts.members[name]
    start = draw.randrange(len(text))
    kinds = [b"", b"\0", b"\xff\xfe", "\ud800".encode("utf-8", "surrogatepass"), b"[" * 5_000, text, b"\n"]
    parts.members[name] = (
        text[:start] + draw.choice(kinds) + text[start + draw.choice([0, 1, 50, len(text)]) :]
    )


def encode_member(parts: Parts, draw: random.Random) -> None:
    name = draw.choice(["run.json", RECORD])
    parts.members[name] = (
        parts.members[name].decode().encode(draw.choice(["utf-16", "utf-32", "utf-8-sig", "cp500"]))
    )


def name_member(parts: Parts, draw: random.Random) -> None:
    name = draw.choice(list(parts.members))
    names = [
        "../x",
        "/tmp/x",
        "data/../../x",
        "data/x",
        "data",
        "a\\b",
        "record-9999999.jsonl",
        "RUN.JSON",
        ".x",
        "",
    ]
    parts.members[draw.choice([*names, "verdicts-x.parquet", "record-0002.jsonl.gz", "x\x00y"])] = (
        parts.members.pop(name)
    )


def add_twice(parts: Parts, draw: random.Random) -> None:
    parts.more.append((draw.choice([*parts.members, "manifest.json"]), b"{}"))


def make_no_file(parts: Parts, draw: random.Random) -> None:
    mode = draw.choice([0o120777, 0o040755, 0o010644, 0o060644])

    def change(info: ZipInfo) -> None:
        info.create_system, info.external_attr = 3, mode << 16

    parts.infos[draw.choice([*parts.members, "manifest.json"])] = change


def store_otherwise(parts: Parts, draw: random.Random) -> None:
    def change(info: ZipInfo) -> None:
        info.compress_type = ZIP_STORED

    for name in parts.members:
        parts.infos[name] = change


def cut_file(parts: Parts, draw: random.Random) -> None:
    parts.after = lambda content: content[: draw.randrange(len(content))]


def flip_bytes(parts: Parts, draw: random.Random) -> None:
    def flip(content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(draw.choice([1, 1, 30])):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return bytes(changed)

    parts.after = flip


def claim_sizes(parts: Parts, draw: random.Random) -> None:
    """The central directory claims other sizes."""
    size = struct.pack("<I", draw.choice([0, 1, 0xFFFFFFFE, 0xFFFFFFFF]))
    parts.after = lambda content: re.sub(
        rb"(PK\x01\x02.{20}).{4}", lambda match: match[1] + size, content, count=1, flags=re.DOTALL
    )


# Mutations of what they say ------------------------------------------------------------------------------


def change_run_json(parts: Parts, draw: random.Random) -> None:
    value = parts.run_json()
    for _ in range(draw.choice([1, 1, 1, 3])):
        change_somewhere(value, draw)
    parts.set_run_json(value)


def change_manifest(parts: Parts, draw: random.Random) -> None:
    change_somewhere(parts.manifest, draw)


def change_passport(parts: Parts, draw: random.Random) -> None:
    change_somewhere(parts.passport, draw)


def say_something_else(parts: Parts, draw: random.Random) -> None:
    value = draw.choice([[], 1, None, "x", [[]], True])
    match draw.randrange(3):
        case 0:
            parts.set_run_json(value)
        case 1:
            parts.passport = value
        case _:
            parts.manifest = value


def no_sittings(parts: Parts, draw: random.Random) -> None:
    parts.set_run_json(parts.run_json() | {"sittings": []})


def unknown_sample(parts: Parts, draw: random.Random) -> None:
    value = parts.run_json()
    value["identity"]["sample"] = {"size": 2, "seed": 0, "order": "best"}
    value["scope"]["sampled_from"] = draw.choice([2, 10**9])
    parts.set_run_json(value)


def path_as_name(parts: Parts, draw: random.Random) -> None:
    value = parts.run_json()
    key = draw.choice(["split", "lang", "mode", "profile", "benchmark", "prompts", "data_sha256"])
    value["identity"][key] = draw.choice(
        ["a/b", "/etc/passwd", "../x", "..", "x\x00", SURROGATE, ATTACK, "x" * 300]
    )
    parts.set_run_json(value)


def change_scope(parts: Parts, draw: random.Random) -> None:
    value = parts.run_json()
    key = draw.choice(["limit", "repeats", "ids", "sampled_from"])
    value["scope"][key] = draw.choice(
        [0, -1, 1, 2, 10**12, 10**30, [], [""], ["wild_mini_0"], [1], None, "x"]
    )
    parts.set_run_json(value)


def claim_costs(parts: Parts, draw: random.Random) -> None:
    value = parts.run_json()
    costs = [0, -1, 1e308, NAN, "0", None, [], {}]
    value["sittings"][-1] |= {"spent": {"usd": draw.choice(costs)}, "ended": hostile_value(draw)}
    parts.set_run_json(value)


def hide_help(parts: Parts, draw: random.Random) -> None:
    """Says of a run that it was made in another way."""
    value = parts.run_json()
    seed = {"seed": "0", "kinds": ["names"]}
    key, said = draw.choice(
        [
            ("noise", seed),
            ("hints", {}),
            ("history", {}),
            ("history_left_out", "none"),
            ("failures", seed),
            ("in_order", True),
        ]
    )
    value["identity"][key] = said
    parts.set_run_json(value)


def change_row(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    change_somewhere(draw.choice(rows), draw)
    parts.set_rows(rows)


# Mutations of replies and verdicts -----------------------------------------------------------------------


def steps_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row.get("row") == "step"]


def better_message(row: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return draw.choice(
        [
            {"role": "assistant", "content": f"All done, number {draw.random()}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {**row["message"], "refusal": "no"},
        ]
    )


def edit_reply(parts: Parts, draw: random.Random) -> None:
    """A better message beside the old raw answer, or without one, in one step or in all."""
    rows = parts.rows()
    steps = steps_of(rows)
    raw = draw.choice([None, "", "{}", "not JSON", "data: {}\n\n"])
    changes = draw.choice([[], ["x"], ["format:hermes"], ["repair:quotes", "format:json-list"]])
    for row in draw.choice([steps, draw.sample(steps, 1)]):
        row["message"] = better_message(row, draw)
        row["raw"] = row["raw"] if raw is None else raw
        row["changes"] = changes
    parts.set_rows(rows)


def edit_end(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    draw.choice(steps_of(rows))["finish_reason"] = draw.choice(
        ["length", "content_filter", "error", "refusal", None]
    )
    parts.set_rows(rows)


def edit_tokens(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    for row in steps_of(rows):
        row["usage"] = {
            "prompt_tokens": draw.choice([0, -5, 10**30, 2**62, True, NAN]),
            "completion_tokens": 0,
        }
    parts.set_rows(rows)


def leave_raw_out(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    for row in draw.choice([steps_of(rows), draw.sample(steps_of(rows), 1)]):
        row["raw"] = ""
    parts.set_rows(rows)


def take_anothers_reply(parts: Parts, draw: random.Random) -> None:
    """Message and raw answer of one step come into another, whose request they do not answer, with its hash or not."""
    rows = parts.rows()
    steps = steps_of(rows)
    one = draw.choice(steps)
    others = [row for row in steps if row["request"] != one["request"] and row["message"] != one["message"]]
    other = draw.choice(others)
    for key in ("message", "raw", "usage", "finish_reason", "request"):
        one[key] = other[key]
    parts.set_rows(rows)


def lose_request(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    draw.choice(steps_of(rows))["request"] = draw.choice([None, "0" * 32, ""])
    parts.set_rows(rows)


def drop_rows(parts: Parts, draw: random.Random) -> None:
    rows = parts.rows()
    steps = steps_of(rows)
    gone = draw.choice([steps, draw.sample(steps, 1)])
    parts.set_rows([row for row in rows if row not in gone])


def fail_instead(parts: Parts, draw: random.Random) -> None:
    """A wrong reply becomes a failed call."""
    rows = parts.rows()
    row = draw.choice(steps_of(rows))
    row |= {"row": "error", "kind": draw.choice(["timeout", ATTACK]), "message": "late", "attempts": 1}
    parts.set_rows(rows)


def add_rows(parts: Parts, draw: random.Random) -> None:
    """Replies to what nobody asked: another item, repeat, unit or step."""
    rows = parts.rows()
    row = dict(draw.choice(steps_of(rows)))
    key, value = draw.choice(
        [("item", "other"), ("repeat", 3), ("unit", "9"), ("step", 99), ("role", "judge")]
    )
    parts.set_rows([*rows, {**row, key: value}])


def edit_verdicts(parts: Parts, draw: random.Random) -> None:
    change = draw.choice(
        [
            "SELECT * REPLACE ('correct' AS outcome, true AS correct) FROM t",
            "SELECT * REPLACE (CASE WHEN unit = '1' THEN 'infra_error' ELSE outcome END AS outcome) FROM t",
            "SELECT * REPLACE ([item] AS item) FROM t",
            "SELECT * REPLACE ({'a': unit} AS unit) FROM t",
            "SELECT * REPLACE ('x' AS repeat) FROM t",
            "SELECT * EXCLUDE (outcome) FROM t",
            "SELECT 1 AS item",
            "SELECT t.* FROM t, range(20000)",
        ]
    )
    with duckdb.connect() as database, TemporaryDirectory() as folder:
        place, new = Path(folder, "t.parquet"), Path(folder, "new.parquet")
        place.write_bytes(parts.members[VERDICTS])
        database.sql(f"CREATE TABLE t AS SELECT * FROM '{place}'")
        database.sql(f"COPY ({change}) TO '{new}' (FORMAT parquet)")
        parts.members[VERDICTS] = new.read_bytes()
    parts.has_other_verdicts = True


FILE_MUTATIONS = [
    drop_member,
    swap_members,
    garble_member,
    encode_member,
    name_member,
    add_twice,
    make_no_file,
    store_otherwise,
    cut_file,
    flip_bytes,
    claim_sizes,
]
CLAIM_MUTATIONS = [
    change_manifest,
    change_passport,
    say_something_else,
    change_run_json,
    no_sittings,
    unknown_sample,
    path_as_name,
    change_scope,
    claim_costs,
    hide_help,
    change_row,
]
REPLY_MUTATIONS = [
    edit_reply,
    edit_end,
    edit_tokens,
    leave_raw_out,
    take_anothers_reply,
    lose_request,
    drop_rows,
    fail_instead,
    add_rows,
    edit_verdicts,
]


# Boards --------------------------------------------------------------------------------------------------

PARTS = 10 if WHOLE else 1
"""Tests that share the mutations of one kind, so that none is at its limit of time."""


@dataclass
class Place:
    """Submissions of two models on two sessions, which are all of the official data here."""

    leader: Path
    weak: Path
    score: float


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    models = {
        "leader": Counted("leader", right=lambda address: address.unit != "1"),
        "weak": Counted("weak", right=lambda address: address.unit == "0"),
    }
    with two_official_sessions(folder):
        for name, model in models.items():
            play(folder / name, model)
            status, output = command("board", "submit", folder / name, "-o", folder / "sent")
            assert status == 0, output
        sent = folder / "sent"
        yield Place(sent / "leader.bundle.zip", sent / "weak.bundle.zip", 0.25)


def put(bundle: Path, folder: Path) -> None:
    passport = bundle.name.replace(".bundle.zip", ".passport.json")
    shutil.copy(bundle, folder)
    shutil.copy(bundle.with_name(passport), folder)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["files", "claims", "replies"])
def test_no_mutated_bundle_ends_the_board_or_gains_a_rank(kind: str, part: int, place: Place, tmp_path: Path):
    mutations = {"files": FILE_MUTATIONS, "claims": CLAIM_MUTATIONS, "replies": REPLY_MUTATIONS}[kind]
    original = parts_of(place.weak)
    count = a_fiftieth_of(10_000) // 3 // PARTS
    # Drawn anew by `make long`; the gate is not to fail by chance for somebody who changed something else.
    seeds = random.Random() if WHOLE else random.Random(kind)
    for start in range(0, count, OF_ONE_BOARD):
        folder = tmp_path / str(start)
        folder.mkdir()
        put(place.leader, folder)
        put(place.weak, folder)
        done: dict[str, Parts] = {}
        for number in range(start, min(count, start + OF_ONE_BOARD)):
            seed = seeds.randrange(1 << 48)
            draw = random.Random(seed)
            mutated, name = deepcopy(original), f"m{number}x{seed}"
            mutation = draw.choice(mutations)
            mutated.is_honest = draw.random() < 0.9
            mutation(mutated, draw)
            mutated.write(folder / f"{name}.bundle.zip")
            done[name] = mutated
        page, lines = built(folder)
        assert {"leader", "weak"} <= page.entries.keys()
        # Some mutations make another model's name for the same answers, which the page says beside both.
        weak = page.entries["weak"]
        assert weak.score == place.score and weak.mark.startswith("recomputed")
        assert not page.tags & {"img", "iframe"}, "a hostile name is no text any more"
        for name, mutated in done.items():
            named = [line for line in lines if f"{name}.bundle.zip: refused: " in line]
            assert (name in page.entries) == (not named), f"{name} is neither on the board nor refused"
            assert not any("wildtool failed on it" in line for line in named), named
            if name in page.entries:
                check_no_gain(name, page.entries[name], mutated, original, place)


def check_no_gain(name: str, entry: Entry, mutated: Parts, original: Parts, place: Place) -> None:
    """Args: name: of the mutated bundle, with the seed that made it."""
    assert not entry.rank or entry.score == place.score, (name, entry)
    if mutated.has_other_verdicts or mutated.judged() != original.judged():
        assert not entry.rank and entry.mark.startswith("as submitted"), (name, entry)


def test_a_bundle_that_grows_beyond_any_record_is_refused_before_it_is_unpacked(place: Place, tmp_path: Path):
    parts = parts_of(place.weak)
    parts.members["record-0002.jsonl"] = b"\n" * (70 << 20)
    parts.write(tmp_path / "bomb.bundle.zip")
    put(place.leader, tmp_path)
    page, lines = built(tmp_path)
    assert list(page.entries) == ["leader"]
    assert len(lines) == 1 and "bomb.bundle.zip: refused: " in lines[0]


def test_hostile_names_of_files_stay_text_on_one_line(place: Place, tmp_path: Path):
    names = [f"a{ATTACK}", "b\nbundle.zip: recomputed", "c\x1b[31m", "d\u202e", "e\udcff", "f=HYPERLINK(1)"]
    for name in names:
        (tmp_path / f"{name}.bundle.zip").write_text("no bundle")
    put(place.leader, tmp_path)
    page, lines = built(tmp_path)
    assert list(page.entries) == ["leader"]
    assert len(lines) == len(names)
    assert not page.tags & {"img"} and not any("\x1b" in line or "\u202e" in line for line in lines)
