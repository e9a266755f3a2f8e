"""What `wildtool data` prints for training files, word by word: standard output, standard error, exit status."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from training.training_rows import call_row, text_row, turn, write_rows
from wildtool.cli import app
from wildtool.errors import UsageError
from wildtool.sets.commands.data.conversion import conversion_lines
from wildtool.sets.commands.data.convert import ConvertOptions
from wildtool.sets.commands.data.mix import _scheme, _sets, _splits  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.commands.data.recipe import _setting, _share  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.prepare.convert import Conversion, ConversionSummary
from wildtool.sets.prepare.mix.mix import MixSet
from wildtool.sets.prepare.writers.forms import TRAINING_FORMS
from wildtool.sets.prepare.writers.options import WriteOptions

QUESTION = "What is the weather in Oslo?"


def words(k: int) -> str:
    return " ".join(f"word{k}x{j}" for j in range(12))


def rows(count: int) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(count)]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The training files that the commands read."""
    monkeypatch.chdir(tmp_path)
    unended = {**text_row("a"), "id": "r7"}
    unended["conversations"].append(turn("human", "b"))
    write_rows(Path("good.jsonl"), rows(30))
    write_rows(Path("bad.jsonl"), [*rows(3), unended, 5])
    write_rows(Path("dup.jsonl"), [*rows(3), rows(3)[1], call_row(f"{words(1)} more")])
    write_rows(
        Path("bench.jsonl"),
        [text_row(QUESTION), call_row("Level at Husum harbour?", "Husum harbour"), text_row("Yes")],
    )
    shown = [
        text_row(QUESTION.upper()),
        text_row("x", f"a {QUESTION}"),
        {**text_row("y"), "system": f"Now. {QUESTION}"},
    ]
    write_rows(Path("over.jsonl"), [*rows(4), *shown, call_row("z", "husum harbour")])
    write_rows(Path("src.jsonl"), [{**text_row(words(k)), "source": "ab"[k % 2]} for k in range(3)])
    unlearned = {"role": "assistant", "content": "r", "weight": 0}
    thought = {"role": "assistant", "content": "s", "reasoning_content": "Hm."}
    user = {"role": "user", "content": "q"}
    write_rows(
        Path("talk.jsonl"),
        [{"messages": [user, unlearned, user, thought], "topic": 1, "id": 1}, {"messages": []}],
    )


def printed(line: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, ["data", *line.split()], prog_name="wildtool")
    return ended.exit_code, ended.stdout, ended.stderr


TRAINER_NOTES = """\
bad.jsonl:1 record 1 tools: trl stops: tools is an empty text; leave the column out, or write []
bad.jsonl:4 r7 conversations[2]: S06: ends with human: nothing to learn after it; LLaMA-Factory drops this record
bad.jsonl:4 r7 conversations[2]: llama-factory drops: ends with human: nothing to learn after it; LLaMA-Factory drops \
this record
bad.jsonl:4 r7 tools: trl stops: tools is an empty text; leave the column out, or write []
bad.jsonl:5 record 5: S01: a record must be an object, this is a number
bad.jsonl: trl changes: every record: renames from and value to role and content, but human, gpt, function_call and \
observation keep their names, which chat templates do not know; calls stay texts; convert with --to trl
"""


@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        ("lint good.jsonl", 0, "", "good.jsonl: 30 records, no findings\n"),
        (
            "lint bad.jsonl --trainer llama-factory,trl",
            1,
            TRAINER_NOTES,
            "LLaMA-Factory (0.9.5, run on rows; lengths read in its code): drops 1 of 4 records\n"
            "TRL (1.16.0, run on rows; lengths read in its code): stops 2 of 4 records\n"
            "1 of 5 rows could not be read\nbad.jsonl: 4 records, 2 errors\n",
        ),
        (
            "lint good.jsonl --trainer llama-factory",
            0,
            "",
            "LLaMA-Factory (0.9.5, run on rows; lengths read in its code): nothing to say of 30 records\n"
            "good.jsonl: 30 records, no findings\n",
        ),
        (
            "lint dup.jsonl --duplicates exact",
            0,
            "dup.jsonl: F05: exact duplicates of earlier records: 1 of 5 records\n"
            "dup.jsonl:4: exact duplicate: of line 2\n",
            "dup.jsonl: 5 records, 2 warnings\n",
        ),
        (
            "lint dup.jsonl --duplicates some",
            2,
            "dup.jsonl: F05: exact duplicates of earlier records: 1 of 5 records\n",
            "wildtool: unknown kind of duplicates 'some' (known: exact, prompt, near)\n",
        ),
        (
            "lint good.jsonl --cutoff 1 --strict",
            1,
            "good.jsonl: F03: longer than 1 tokens (estimated as characters ÷ 3.5; see --tokenizer): 30 of 30 records\n",
            "good.jsonl: 30 records, 1 warning\n",
        ),
        ("lint nofile.jsonl --strict", 2, "", "wildtool: nofile.jsonl: there is no such file\n"),
        (
            "lint wild-mini --cutoff 5",
            2,
            "",
            "wildtool: --cutoff is for training files, and wild-mini is none; add --benchmark training if it is\n",
        ),
        (
            "mix a=good.jsonl b=over.jsonl:2 --by weights --total 9 --with bench.jsonl -o m",
            0,
            "sets\n\n   rows  rejected  overlap  duplicates  left  drawn\n"
            "───────────────────────────────────────────────────\n"
            "a    30         0        0           0    30      3\n"
            "b     8         0        2           0     6      6\n\nm/train.jsonl: 9 rows\n",
            "",
        ),
        (
            "mix a=bad.jsonl --no-overlap-check --strict -o m --split train=0.5,val=0.5 --group-by tools --cap 1",
            1,
            "sets\n\n   rows  rejected  overlap  duplicates  left  drawn\n"
            "───────────────────────────────────────────────────\n"
            "a     5         2        0           0     3      1\n\nm/train.jsonl: 0 rows\nm/val.jsonl: 1 row\n",
            "train.jsonl: no record fell into this split\nleft out: 2 of 5 rows: see m/rejects.jsonl\n",
        ),
        (
            "mix hermes=good.jsonl hermes-prompts=good.jsonl --no-overlap-check -o m",
            0,
            "sets\n\n                rows  rejected  overlap  duplicates  left  drawn\n"
            "────────────────────────────────────────────────────────────────\n"
            "hermes            30         0        0           0    30     30\n"
            "hermes-prompts    30         0        0           0    30     30\n\nm/train.jsonl: 60 rows\n",
            "hermes and hermes-prompts are partly the same data (Hermes function calling); add --dedupe near\n",
        ),
        (
            "recipe good.jsonl --base qwen3 --no-overlap-check --cutoff 10 --curve 1/2,0.25 --set a=b=c -o rec",
            0,
            "rec: 30 records, 3 trainings, template qwen3, cut off at 10 tokens\n",
            "--set a: LLaMA-Factory 0.9.5 does not know this setting, and stops at it. It is written as given, for other"
            " versions.\nlonger than 10 tokens, so that LLaMA-Factory cuts the end off: 30 of 30 records.\n"
            "How to go about it: rec/README.md\n",
        ),
        (
            "recipe good.jsonl --base qwen3 --fixed x -o rec",
            2,
            "",
            "wildtool: unknown value of --fixed 'x' (known: epochs, steps)\n",
        ),
        (
            "recipe good.jsonl --base qwen3 --method x -o rec",
            2,
            "",
            "wildtool: unknown method 'x' (known: sft-lora, sft-full, dpo-lora)\n",
        ),
        *(
            (
                f"recipe good.jsonl {half}",
                2,
                "",
                "wildtool: give the weights to train and the folder to write: --base MODEL --out FOLDER\n",
            )
            for half in ("--base qwen3", "-o rec")
        ),
        (
            "convert talk.jsonl --to sharegpt -o c.jsonl",
            0,
            "2 rows of openai: 1 written\nleft out: 1 of 2 rows: see c.jsonl.rejects.jsonl\n"
            "  left out: no-user 1 (no user turn)\n  no place for: reasoning 1\n  no place for: weight 0 1\n"
            "  no place for: columns topic, id 1\n  records with 0, 1, 2, more calls: 1, 0, 0, 0\nc.jsonl\n",
            "",
        ),
        (
            "convert talk.jsonl --to openai",
            0,
            '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"r","weight":0},'
            '{"role":"user","content":"q"},{"role":"assistant","content":"s","reasoning_content":"Hm."}],"tools":[]}\n',
            "2 rows of openai: 1 written\nleft out: 1 of 2 rows\n  left out: no-user 1 (no user turn)\n"
            "  no place for: columns topic, id 1\n  records with 0, 1, 2, more calls: 1, 0, 0, 0\n",
        ),
        (
            "convert talk.jsonl --to llamafactory -o lf --drop-weights --strict",
            1,
            "2 rows of openai: 1 written\nleft out: 1 of 2 rows: see lf/talk_sft.jsonl.rejects.jsonl\n"
            "  left out: no-user 1 (no user turn)\n  no place for: reasoning 1\n  no place for: weight 0 1\n"
            "  no place for: columns topic, id 1\n  records with 0, 1, 2, more calls: 1, 0, 0, 0\nlf/talk_sft.jsonl\n",
            "",
        ),
        ("refresh wild-mini --seed 3 -o f.jsonl", 0, "f.jsonl: 32 sessions, 0 left out\n", ""),
        ("refresh wild-mini", 2, "", "wildtool: give the file to write: --out fresh.jsonl\n"),
    ],
)
def test_what_is_printed(line: str, status: int, out: str, err: str):
    assert printed(line) == (status, out, err)


OVERLAP = """\
items found in training

             exact  near  long  contained  touched  rows  seen tools
────────────────────────────────────────────────────────────────────
bench.jsonl      2     0     0          0   2 of 3     4      1 of 1


exact: bench.jsonl 1, user text in a user text (share8 1.00, jaccard5 1.00)
  What is the weather in Oslo?
  over.jsonl:5: WHAT IS THE WEATHER IN OSLO?

exact: bench.jsonl 2, call (share8 1.00, jaccard5 1.00)
  level Husum harbour
  over.jsonl:8: level husum harbour

contained: bench.jsonl 1, user text in a reply (share8 1.00, jaccard5 0.67)
  What is the weather in Oslo?
  over.jsonl:6: a What is the weather in Oslo?

contained: bench.jsonl 1, user text in a system text (share8 1.00, jaccard5 0.67)
  What is the weather in Oslo?
  over.jsonl:7: Now. What is the weather in Oslo?
Not looked for: 1 text of one or two words, such as “Yes”.
Paraphrases, translations, and what a model saw before this training stay unseen.
"""


@pytest.mark.parametrize(
    ("more", "status", "err"),
    [
        ("", 1, ""),
        ("--remove exact -o c.jsonl", 1, "c.jsonl: 6 of 8 rows; 2 removed\n"),
        ("--remove exact,near,long,contained -o c.jsonl", 0, "c.jsonl: 4 of 8 rows; 4 removed\n"),
    ],
)
def test_what_is_printed_of_a_search(more: str, status: int, err: str):
    assert printed(f"overlap over.jsonl --with bench.jsonl {more}") == (status, OVERLAP, err)


def test_options_of_training_files_and_figures_are_for_these_alone():
    problem = "is for training files, and wild-mini is none; add --benchmark training if it is"
    for option in ("compare", "tokenizer"):
        assert printed(f"stats wild-mini --{option} good.jsonl") == (
            2,
            "",
            f"wildtool: --{option} {problem}\n",
        )
    assert printed("lint good.jsonl --strict")[0] == 0
    for data in ("wild-mini", "src.jsonl"):
        assert printed(f"stats {data} --json")[1].splitlines()[1] == " {"


def test_one_row_or_error_is_a_failure():
    write_rows(Path("lone.jsonl"), [*rows(2), text_row(QUESTION)])
    assert printed("overlap lone.jsonl --with bench.jsonl")[0] == 1
    assert printed("mix a=good.jsonl --no-overlap-check --strict -o m")[0] == 0
    assert printed("mix a=bad.jsonl --no-overlap-check -o n")[0] == 0
    assert printed("mix a=bad.jsonl --no-overlap-check --strict -o o")[0] == 1
    write_rows(Path("one.jsonl"), [*rows(4), 5])
    assert printed("lint one.jsonl") == (
        1,
        "one.jsonl:5 record 5: S01: a record must be an object, this is a number\n",
        "1 of 5 rows could not be read\none.jsonl: 4 records, 1 error\n",
    )


def test_rows_that_cannot_be_compared_are_named():
    status, out, err = printed("overlap bad.jsonl --with bench.jsonl,bench.jsonl --with wild-mini")
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["bench.jsonl", "wild-mini"]
    assert (status, err) == (
        1,
        "bad.jsonl:5: unreadable-line: expected an object, found a number\n1 of 5 rows could not be read or compared\n",
    )
    write_rows(Path("many.jsonl"), [*rows(3), *[5] * 22])
    err = printed("overlap many.jsonl --with bench.jsonl")[2].splitlines()
    assert (len(err), err[-2:]) == (
        22,
        ["… and 2 more like these", "22 of 25 rows could not be read or compared"],
    )
    status, out, _ = printed("overlap over.jsonl --with bench.jsonl --json")
    assert out.splitlines()[:2] == ["{", ' "rows": 8,']
    shown = json.loads(out)
    assert (status, shown["left"], len(shown["benchmarks"][0]["pairs"])) == (1, 4, 4)


SETS = """\
sets

                                                                               with calls in several
              records  turns: mean  calls: mean  tokens: mean  without a call                  turns
────────────────────────────────────────────────────────────────────────────────────────────────────
a          66.7 % 2/3            2            0            28     100.0 % 2/2              0.0 % 0/2
b          33.3 % 1/3            2            0            28     100.0 % 1/1              0.0 % 0/1
all sets  100.0 % 3/3            2            0            28     100.0 % 3/3              0.0 % 0/3

"""


def test_numbers_are_shown_with_those_of_each_set_and_side_by_side():
    status, out, err = printed("stats src.jsonl")
    assert (status, err, out.endswith(SETS)) == (0, "", True)
    assert out.startswith("size\n\nrecords             3 of 3\nresults             0 of 3\n")
    status, out, err = printed("stats src.jsonl --compare bad.jsonl")
    assert (status, err) == (1, "1 row could not be read; see `wildtool data lint`\n")
    assert out.endswith(SETS.replace("sets\n", "sets of src.jsonl\n", 1))
    assert out.startswith(
        "size\n\n                    src.jsonl  bad.jsonl\n────────────────────────────────────────\n"
        "records               3 of 3     4 of 4\nresults               0 of 3     0 of 4\n"
    )
    assert (
        "argument types\n\n        src.jsonl    bad.jsonl\n──────────────────────────────\n"
        "a text          —  100.0 % 2/2\n\nfindings\n\n     src.jsonl  bad.jsonl\n─────────────────────────\n"
        "S01          —    1 of 2\nS06          —    1 of 2\n"
    ) in out
    status, out, _ = printed("stats src.jsonl --json")
    alone = json.loads(out)
    assert (status, len(alone), alone[0]["group"], alone[-1]["group"]) == (0, 54, "size", "all sets")
    status, out, _ = printed("stats src.jsonl --compare good.jsonl --json")
    both = json.loads(out)
    assert (list(both), both["src.jsonl"]) == (["src.jsonl", "good.jsonl"], alone)


def test_numbers_of_a_benchmark_have_their_distance_from_a_target():
    status, out, _ = printed("stats wild-mini --json")
    metrics = json.loads(out)
    aimed = [metric for metric in metrics if metric["target"] is not None]
    assert status == 0 and aimed and len(aimed) < len(metrics)
    for metric in metrics:
        away = metric["value"] - metric["target"] if metric in aimed else None
        assert metric["deviation"] == away
    assert "2  13 of 32\n3  14 of 32\n" in printed("stats wild-mini")[1]


def test_a_conversion_is_printed_for_programs():
    status, out, err = printed(
        "convert talk.jsonl --to openai --for-upload -o c.jsonl --json --strict --keep-rejects"
    )
    shown = json.loads(out)
    assert out.startswith('{\n "out": "c.jsonl",\n "rejects": ')
    assert (status, err, shown["out"], shown["rejects"]) == (1, "", "c.jsonl", "c.jsonl.rejects.jsonl")
    assert (shown["rows"], shown["written"], shown["not_expressed"]) == (
        2,
        1,
        {"column topic": 1, "column id": 1},
    )
    assert json.loads(Path("c.jsonl.rejects.jsonl").read_text())["record"] == {"messages": []}
    write_rows(Path("fine.jsonl"), [json.loads(Path("talk.jsonl").read_text().splitlines()[0])])
    status, out, _ = printed("convert fine.jsonl --to openai -o d.jsonl --json --strict")
    assert (status, json.loads(out)["rejects"]) == (0, None)
    # Reasoning that was lost fails too.
    assert printed("convert fine.jsonl --to sharegpt -o e.jsonl --strict")[0] == 1
    assert printed("convert fine.jsonl --to sharegpt --text-with-calls think -o g.jsonl --strict")[0] == 0


# Lines and options -----------------------------------------------------------------------------------


def lines(summary: ConversionSummary, to: str = "openai", **writing: Any) -> list[str]:
    conversion = Conversion(files=(Path("f"),), form=TRAINING_FORMS[to], writing=WriteOptions(**writing))
    return list(conversion_lines(summary, conversion, None))


def test_everything_that_became_of_rows_is_said():
    summary = ConversionSummary(
        rows=1500,
        written=9,
        data_sets=["hermes", "gsm8k-toolcalls", "hermes", "openai"],
        rejected=Counter({"near": 1, "odd": 2}),
        repaired=Counter({"merge-user": 1}),
        lost=Counter({"column a": 2, "weight 0": 3, "column b": 1, "column c": 2}),
        unknown_types=Counter({f"type {k}": 1 for k in range(21)}),
        calls=Counter({"0": 1, "more": 2}),
        notes=Counter({"edited": 1, "by-reply": 4, "special-tokens": 2, "final-thought": 3}),
        renamed={f"new{k}": f"old {k}" for k in range(12)},
        samples=["x" * 2500, "y\nz"],
    )
    types = ", ".join(f"type {k} 1" for k in range(20))
    found = lines(summary, for_upload=True)
    assert found[:14] == [
        "1,500 rows of hermes, gsm8k-toolcalls, openai: 9 written",
        "left out: 3 of 1,500 rows",
        "  left out: odd 2",
        "  left out: near 1 (no argument that was last said as far back as --distance asks)",
        "  repaired: merge-user 1 (two user turns in a row joined)",
        "  no place for: weight 0 3",
        "  no place for: columns a, c 2",
        "  no place for: column b 1",
        "  note: by-reply 4 (a row for each reply to learn, which is its last: train with `mask_history: true`, or with"
        " `wildtool data recipe --set mask_history=true`)",
        "  note: final-thought 3 (end with a thought beside the answer, which is left out)",
        "  note: special-tokens 2 (teach one new token per tool; without these tokens in the model they teach noise)",
        "  note: edited 1 (were edited after --lossless wrote them; the edited text is used)",
        f"  types without a rule: {types}",
        "  records with 0, 1, 2, more calls: 1, 0, 0, 2",
    ]
    assert found[14:24] == [f"  renamed: old {k} -> new{k}" for k in range(10)]
    assert found[24:26] == [
        "  and 2 more; --lossless keeps every old name",
        "  the layout of hermes, gsm8k-toolcalls, openai is partly guessed; look at the first records:",
    ]
    assert len(found[26]) <= 2002 < len(summary.samples[0]) and found[26].startswith("  xxx")
    assert "\n" not in found[27]
    assert found[28:] == [
        "  the platform wants at least 10 records",
        "  no licence is known for hermes, gsm8k-toolcalls",
    ]


def test_what_is_not_so_is_not_said():
    plain = ConversionSummary(
        rows=1, written=10, data_sets=["openai"], renamed={str(k): "x" for k in range(10)}
    )
    found = lines(plain, for_upload=True)
    assert found[:2] == ["1 row of openai: 10 written", "  records with 0, 1, 2, more calls: 0, 0, 0, 0"]
    assert len(found) == 12
    few = ConversionSummary(rows=1, written=9, data_sets=["openai"], notes=Counter({"by-reply": 1}))
    completion = "  note: by-reply 1 (a row for each reply to learn, which is its completion)"
    assert lines(few, "trl", prompt_completion=True)[1] == lines(few, "text")[1] == completion
    assert len(lines(few, "trl", prompt_completion=True)) == 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "name the form to write: --to sharegpt|openai|trl|llamafactory|text|verl|adp|tools"),
        (
            {"to": "trl", "flat": True},
            "--flat cannot be used with --to trl; it is for: sharegpt, llamafactory",
        ),
        (
            {"to": "openai", "text_with_calls": "think"},
            "--text-with-calls cannot be used with --to openai; it is for: sharegpt, llamafactory",
        ),
        (
            {"to": "openai", "lossless": True},
            "--lossless cannot be used with --to openai; it is for: sharegpt, llamafactory",
        ),
        ({"to": "trl", "for_upload": True}, "--for-upload cannot be used with --to trl; it is for: openai"),
        (
            {"to": "openai", "prompt_completion": True},
            "--prompt-completion cannot be used with --to openai; it is for: trl",
        ),
        (
            {"to": "openai", "tools_as_text": True},
            "--tools-as-text cannot be used with --to openai; it is for: trl",
        ),
        (
            {"to": "openai", "tool_format": "hermes"},
            "--tool-format cannot be used with --to openai; it is for: text, verl",
        ),
        (
            {"to": "sharegpt", "drop_weights": True},
            "--drop-weights cannot be used with --to sharegpt; it is for: llamafactory, verl",
        ),
        (
            {"to": "sharegpt", "replace": True},
            "--replace cannot be used with --to sharegpt; it is for: llamafactory",
        ),
        (
            {"to": "text"},
            "--to text needs the format of your runs: --tool-format hermes, or another of `wildtool list formats`",
        ),
        ({"to": "openai", "distance": 3}, "--distance needs --kind long"),
        ({"to": "openai", "distance": 3, "kind": "sft"}, "--distance needs --kind long"),
        (
            {"to": "sharegpt", "flat": True, "lossless": True},
            "--flat and --lossless exclude each other: the flat variant keeps no calls",
        ),
        (
            {"to": "openai", "keep_rejects": True},
            "--keep-rejects and --json need a file to write: --out converted.jsonl",
        ),
        (
            {"to": "openai", "as_json": True},
            "--keep-rejects and --json need a file to write: --out converted.jsonl",
        ),
    ],
)
def test_options_of_a_conversion_that_contradict_each_other(given: dict[str, Any], problem: str):
    with pytest.raises(UsageError) as refused:
        options(**given).check()
    assert str(refused.value) == problem


def options(**given: Any) -> ConvertOptions:
    defaults = {"to": None, "out": None, "kind": None, "distance": None, "tool_format": None, "jobs": None}
    flags = (
        "lossless",
        "flat",
        "for_upload",
        "prompt_completion",
        "tools_as_text",
        "safe_names",
        "drop_weights",
    )
    others = ("keep_rejects", "strict", "replace", "allow_benchmark_data", "force", "as_json")
    return ConvertOptions(
        **{**defaults, **dict.fromkeys((*flags, *others), False), "text_with_calls": "drop", **given}
    )


@pytest.mark.parametrize(
    "given",
    [
        {"to": "sharegpt", "flat": True, "out": Path("x"), "as_json": True, "keep_rejects": True},
        {"to": "llamafactory", "lossless": True, "drop_weights": True, "replace": True},
        {"to": "openai", "for_upload": True, "distance": 3, "kind": "long"},
        {"to": "text", "tool_format": "hermes"},
    ],
)
def test_options_of_a_conversion_that_go_together(given: dict[str, Any]):
    options(**given).check()


def test_shares_sets_and_splits_of_a_mixture():
    names = ("size", "sqrt", "weights", "temperature=3", "sqrt=3", "odd")
    assert [_scheme(text) for text in names] == [
        ("size", 1.0),
        ("sqrt", 2.0),
        ("weights", 1.0),
        ("temperature", 3.0),
        ("sqrt=3", 2.0),
        ("odd", 1.0),
    ]
    Path("a:3").touch()
    assert _sets(["a=f.jsonl", "b=f.jsonl:2.5", "c=a:3"], ("b=7", "4")) == (
        MixSet("a", Path("f.jsonl"), 1.0, 4),
        MixSet("b", Path("f.jsonl"), 2.5, 7),
        MixSet("c", Path("a:3"), 1.0, 4),
    )
    assert _sets(["a=f:2"], ()) == (MixSet("a", Path("f"), 2.0),)
    assert _splits(None) == (("train", 1.0),)
    assert _splits("a-b_1=0.5,c=0.25") == (("a-b_1", 0.5), ("c", 0.25))
    for bad, problem in (
        (lambda: _sets(["f.jsonl"], ()), "f.jsonl: give each set as NAME=FILE, such as xlam=f.jsonl"),
        (lambda: _sets(["=f"], ()), "=f: give each set as NAME=FILE, such as xlam==f"),
        (lambda: _sets(["a="], ()), "a=: give each set as NAME=FILE, such as xlam=a="),
        (lambda: _sets(["a=f"], ("b=3",)), "unknown set 'b' (known: a)"),
        (lambda: _sets(["a=f"], ("a=x",)), "'x' is no number; example: --cap xlam=5000"),
        (
            lambda: _splits("a b=1"),
            "--split: 'a b' cannot be the name of a file; use letters, digits, - and _",
        ),
        (lambda: _splits("a"), "'' is no number; example: --split train=0.95,val=0.05"),
    ):
        with pytest.raises(UsageError) as refused:
            bad()
        assert str(refused.value) == problem


def test_shares_and_settings_of_a_recipe():
    assert [float(_share(text)) for text in ("1", "1/4", "0.5")] == [1, 0.25, 0.5]
    for text in ("0", "-1", "1/0", "x", "1.01"):
        with pytest.raises(UsageError) as refused:
            _share(text)
        parts = "is not a part of the data; give parts such as 1/16,1/4,1 or 0.1,0.5,1"
        assert str(refused.value) == f"--curve: {text!r} {parts}"
    values = (" a =1", "a=2e-5", "a=true", 'a="x"', "a=x=y", "a=")
    assert [_setting(text) for text in values] == [
        ("a", 1),
        ("a", 2e-5),
        ("a", True),
        ("a", "x"),
        ("a", "x=y"),
        ("a", ""),
    ]
    for text in ("=3", "a", " =3"):
        with pytest.raises(UsageError) as refused:
            _setting(text)
        assert str(refused.value) == f"--set {text}: give a key and a value, such as --set learning_rate=2e-5"
