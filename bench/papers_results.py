"""The rows of `papers.py` about results: tables, figures, cases that people read, and what training files bring."""

import json
import re
from collections import Counter
from typing import Any

from papers_scratch import Scratch, csv_rows, expect, line_with, run_counts

# What follows is found where papers_scratch says.
# isort: split
from review.made_sets import decide
from review.terminals import terminal
from training.test_conversion_properties import SAMPLES
from wildtool_review.sets import open_review

ITEMS = "generate acebench --model procedural --items 60 --lang en,zh --out items"
LEXICAL = "run wild-mini --model baseline/lexical --profile fixed --quiet --out runs/lexical"


def metrics_of(scratch: Scratch, run: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The numbers of a run by group and name."""
    shown = json.loads(scratch.printed(f"show {run} --json", show=False))
    return {(each["group"], each["name"]): each for each in shown["runs"][0]["metrics"]}


def compared_sets(scratch: Scratch) -> dict[tuple[str, str], str]:
    """The table of three sets beside each other: by data and number the count, the mean, or the share as a fraction."""
    scratch.wildtool(ITEMS, show=False)
    scratch.wildtool("data stats wild-mini ledger items/items -o comparison")
    expect(len(scratch.text("comparison/comparison.svg")) > 1000, "no picture")
    rows = scratch.rows("comparison/comparison.csv")
    found: dict[tuple[str, str], str] = {}
    for row in rows:
        shown = {"mean": f"{float(row['value'] or 0):.3g}", "count": row["numerator"]}
        fraction = f"{row['numerator']}/{row['denominator']}"
        found[row["data"], row["number"]] = shown.get(row["unit"], fraction)
    return found


def shares_of_benchmarks(scratch: Scratch) -> str:
    found = compared_sets(scratch)
    names = ("contextual", "hidden information", "transitions", "sequential", "parallel", "mixed")
    expect(all(("wild-mini", name) in found for name in names), str(found))
    expect(found["wild-mini", "contextual"] == "96/128", found["wild-mini", "contextual"])
    return "wild-mini: " + ", ".join(f"{name} {found['wild-mini', name]}" for name in names)


def beside_other_benchmarks(scratch: Scratch) -> str:
    found = compared_sets(scratch)
    names = ("user turns", "tools", "arguments per call", "parallel")
    data = {name for name, _ in found}
    expect({"wild-mini", "ledger"} <= data and len(data) == 3, str(data))
    items = next(name for name in data if name not in ("wild-mini", "ledger"))
    known = [name for name in names if (items, name) in found]
    expect(len(known) >= 3, str(found))
    return (
        f"3 sets in CSV and picture; of items: {', '.join(f'{name} {found[items, name]}' for name in known)}"
    )


def tool_types(scratch: Scratch) -> str:
    scratch.wildtool(ITEMS, show=False)
    seen: list[str] = []
    for data in ("wild-mini", "ledger", "items/items"):
        said = scratch.printed(f"data stats {data} --json")
        rows = [row for row in json.loads(said) if row["group"].startswith("tools by domain")]
        expect(len(rows) >= 8, f"{data}: {[row['name'] for row in rows]}")
        decided = sum(row["numerator"] for row in rows if row["name"] != "undecided")
        expect(decided > 0, f"{data}: no word decides")
        seen.append(f"{data} {decided:g} of {rows[0]['denominator']:g} tools")
    return f"8 domains, by the tools' own words: {', '.join(seen)}"


def domains_of_items(scratch: Scratch) -> str:
    scratch.wildtool(ITEMS, show=False)
    said = scratch.wildtool("data stats items/items")
    line_with(said, "tools by domain, by the tools' own words")
    return f"{line_with(said, 'Lifestyle ')}; {line_with(said, 'undecided')}"


def turns_and_arguments(scratch: Scratch) -> str:
    scratch.wildtool(ITEMS, show=False)
    rows = json.loads(scratch.printed("data stats items/items --json"))
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["group"].startswith(("user turns of a dialogue", "arguments of a gold call")):
            groups.setdefault(row["group"], []).append(f"{row['name']}: {row['numerator']:g}")
    expect(len(groups) == 4, str(groups))
    return "; ".join(f"{name} {', '.join(counts)}" for name, counts in groups.items() if "(en)" in name)


def what_went_before(scratch: Scratch) -> str:
    scratch.wildtool(LEXICAL)
    scratch.wildtool(
        "run wild-mini --model baseline/lexical --profile fixed --history own --quiet --out runs/own"
    )
    after = line_with(scratch.wildtool('show runs/lexical --group "what went before"'), "after Chat, right")
    paired = line_with(scratch.wildtool("compare runs/lexical runs/own"), "settled, after Single-Tool, wrong")
    return f"{after}; paired: {paired}"


def other_benchmarks_drawn(scratch: Scratch) -> str:
    scratch.wildtool("show --published wildtoolbench_table5_other_benchmarks --chart table5.svg")
    chart = scratch.text("table5.svg")
    expect("tau2-bench, telecom" in chart and "GPT5" in chart, "the chart lacks a panel or a model")
    return f"a chart of {len(chart):,} characters with a panel for each benchmark"


def chinese(scratch: Scratch) -> str:
    seen: list[str] = []
    for lang, units in (("en", 96), ("zh", 32)):
        scratch.wildtool(f"run wild-mini --lang {lang} --model baseline/gold --quiet --out runs/{lang}")
        cell = metrics_of(scratch, f"runs/{lang}")["accuracy", "task"]
        expect((cell["numerator"], cell["denominator"]) == (units, units), str(cell))
        seen.append(f"{lang} {units} of {units} tasks right")
    return ", ".join(seen)


def without_context(scratch: Scratch) -> str:
    scratch.wildtool(LEXICAL, show=False)
    seen: list[str] = []
    for kind in ("none", "without:tool"):
        name = kind.replace(":", "-")
        scratch.wildtool(
            f"run wild-mini --model baseline/lexical --profile fixed --history {kind} --quiet --out runs/{name}"
        )
        seen.append(
            f"{kind}: {line_with(scratch.wildtool(f'compare runs/lexical runs/{name}'), 'units that lose turns')}"
        )
    return "; ".join(seen)


def matrix(scratch: Scratch) -> str:
    scratch.wildtool(LEXICAL, show=False)
    rows = csv_rows(scratch.printed('show runs/lexical --group "task type x position" --csv'))
    cells = {row["name"]: (float(row["numerator"]), float(row["denominator"])) for row in rows}
    whole = sum(cells[f"{kind} × {k}"][1] for kind in KINDS for k in range(1, 5))
    expect(whole == 128, f"{whole} units in {len(cells)} cells")
    scratch.wildtool("report runs/lexical -o matrix")
    expect(any(scratch.folder.glob("matrix/*types*.html")), "no page of types and positions")
    right, count = cells["Chat × 1"]
    return (
        f"{len(cells)} cells, 128 units in the four types by four positions; Chat × 1: {right:g} of {count:g}"
    )


KINDS = ("Single-Tool", "Multi-Tool", "Clarify", "Chat")


def finance_values(scratch: Scratch) -> str:
    """Uses the models of `finance_replies`."""
    properties = {name: {"type": "string", "description": about} for name, about, *_ in FINANCE_VALUES}
    tool = {"type": "object", "properties": properties, "required": []}
    function = {"name": "get", "description": "Gets figures.", "parameters": tool}
    scratch.write("figures.json", [{"type": "function", "function": function}])
    cases = [
        {"input": f"case {k}", "expect": {"get": {name: gold}}}
        for k, (name, _, gold, *_) in enumerate(FINANCE_VALUES)
    ]
    scratch.write("finance.yaml", {"defaults": {"tools": "figures.json"}, "cases": cases})
    scratch.wildtool(
        "run finance.yaml --model same --model other --base-url {answers} --quiet --out finance-runs"
    )
    same, other = (run_counts(scratch, f"finance-runs/{model}")["correct"] for model in ("same", "other"))
    total = len(FINANCE_VALUES)
    expect((same, other) == (total, 0), f"{same} of {total} equal values accepted, {other} other ones")
    return f"{total} of {total} other spellings of a value accepted, 0 of {total} other values"


FINANCE_VALUES = (
    ("symbol", "Ticker symbol of the stock", "BRK.B", "BRK-B", "BRK.A"),
    ("ticker", "Ticker symbol of the stock", "AAPL", "$aapl", "AAPD"),
    ("amount", "Amount of money", "1.2M USD", "$1,200,000", "$1,200"),
    ("spread", "Spread over the rate", "25 bps", "0.25%", "0.025%"),
    ("fiscal_period", "Fiscal period", "FY2024", "FY 2024", "FY2023"),
    ("interval", "Interval of the candles", "5m", "5 minutes", "5 months"),
    ("currency", "Currency", "GBP", "gbp", "GBp"),
)
"""Parameter, what it is, gold, another spelling of it, and another value."""


def finance_replies() -> dict[str, dict[str, Any]]:
    """What the models `same` and `other` reply to each case of `finance_values`."""

    def reply(name: str, value: str) -> dict[str, Any]:
        function = {"name": "get", "arguments": json.dumps({name: value})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }

    return {
        model: {f"case {k}": reply(row[0], row[place]) for k, row in enumerate(FINANCE_VALUES)}
        for model, place in (("same", 3), ("other", 4))
    }


def sizes(scratch: Scratch) -> str:
    scratch.wildtool("compare wildtoolbench --curve size -o sizes")
    rows = scratch.rows("sizes/model_sizes.csv")
    placed = {row["model"]: float(row["billions"]) for row in rows}
    expect(placed["Qwen2.5-72B-Instruct"] == 72, str(placed))
    expect(any(scratch.folder.glob("sizes/*.svg")), "no chart")
    least, most = min(placed.values()), max(placed.values())
    return f"{len(placed)} models of the paper from {least:g} to {most:g} billion parameters, with a chart"


def prompt_strategies(scratch: Scratch) -> str:
    scratch.wildtool(ITEMS, show=False)
    modes = ("text", "condensed", "minimal")
    for mode in modes:
        scratch.wildtool(
            f"run acebench --data items/items --mode {mode} --prompts own --model baseline/gold --quiet "
            f"--out modes/{mode}"
        )
    line = "compare modes/text modes/condensed modes/minimal --modes"
    paper = line_with(scratch.wildtool(line), "Qwen2.5-3B-Instruct")
    runs = json.loads(scratch.printed(f"{line} --json", show=False))["runs"]
    found = {run["mode"] or "text": (run["accuracy"]["value"], run["units"]) for run in runs}
    expect(found == dict.fromkeys(modes, (1.0, 70)), str(found))
    return (
        f"one table of {', '.join(modes)}: gold right in 70 of 70 units of each; the paper's below: {paper}"
    )


def bfcl_version_3(scratch: Scratch) -> str:
    wheel = scratch.official_file("bfcl_eval-2026.3.23-py3-none-any.whl")
    older = scratch.official_file("bfcl_eval-2025.6.8-py3-none-any.whl")
    scratch.wildtool(f"data pull bfcl --from {wheel}", show=False)
    from zipfile import ZipFile

    with ZipFile(older) as archive:
        names = [name for name in archive.namelist() if name.startswith("bfcl_eval/data/")]
        archive.extractall(scratch.folder / "v3", names)
    folder = "v3/bfcl_eval/data"
    scratch.wildtool(f"run bfcl --data {folder} --limit 40 --model baseline/gold --quiet --out bfcl/plain")
    scratch.wildtool(f"run bfcl --data {folder} --split live --model baseline/gold --quiet --out bfcl/live")
    plain, shown = (run_counts(scratch, f"bfcl/{run}") for run in ("plain", "live"))
    expect(plain["correct"] > 0, str(plain))
    total = sum(shown.values())
    expect(total == 2251 and shown["correct"] > 2200, str(shown))
    return f"version 3 runs without --split; live: {shown['correct']:,} of {total:,} gold answers right"


def suite(scratch: Scratch) -> list[dict[str, str]]:
    """A report of two benchmarks, one of them in two modes: the numbers of its page across them."""
    scratch.wildtool(ITEMS, show=False)
    for mode in ("text", "fc"):
        line = f"run acebench --data items/items --mode {mode} --model baseline/lexical --quiet --out suite/{mode}"
        scratch.wildtool(line, show=False)
    scratch.wildtool("run wild-mini --model baseline/lexical --quiet --out suite/mini", show=False)
    scratch.wildtool("report suite -o across")
    return scratch.rows("across/files/across.csv")


def metric_of_each(scratch: Scratch) -> str:
    injecagent = scratch.official_file("injecagent")
    scratch.wildtool(ITEMS, show=False)
    line = (
        f"run injecagent --data {injecagent} --model baseline/gold --limit 20 --quiet --out toleap/injecagent"
    )
    scratch.wildtool(line, show=False)
    scratch.wildtool("run wild-mini --model baseline/gold --limit 5 --quiet --out toleap/mini", show=False)
    scratch.wildtool("report toleap -o metrics")
    rows = [row for row in scratch.rows("metrics/files/across.csv") if row["benchmark"] == "injecagent"]
    found = {re.sub(r" \(.*?\)", "", row["number"]): float(row["value"]) for row in rows}
    expect(found == {"ASR-valid: Total": 0, "utility: answered and resisted": 1}, str(found))
    numbers = ", ".join(f"{name} {value:.0%}" for name, value in found.items())
    return f"InjecAgent has two panels, of gold answers: {numbers}"


def charts_across(scratch: Scratch) -> str:
    rows = suite(scratch)
    panels = {(row["benchmark"], row["number"]) for row in rows}
    charts = scratch.text("across/across.html").count("<svg")
    expect({name for name, _ in panels} == {"acebench", "wild-mini"} and len(rows) == 3, str(rows))
    expect(charts >= len(panels), f"{charts} charts")
    return f"a page with {len(panels)} panels, one for each benchmark, and {len(rows)} rows of CSV"


def better_mode(scratch: Scratch) -> str:
    both = {row["mode"]: float(row["value"]) for row in suite(scratch) if row["benchmark"] == "acebench"}
    scratch.wildtool("report suite -o better --better-mode")
    chosen = [row for row in scratch.rows("better/files/across.csv") if row["benchmark"] == "acebench"]
    expect(len(both) == 2 and len(chosen) == 1, f"{both}, {len(chosen)} chosen")
    expect(float(chosen[0]["value"]) == max(both.values()), str(both))
    return f"{chosen[0]['mode']} chosen of " + ", ".join(
        f"{mode} {value:.1%}" for mode, value in both.items()
    )


def training_sets(scratch: Scratch) -> str:
    said = scratch.wildtool("list --coverage")
    line_with(said, "training sets (21)")
    known = len(re.findall("`data convert --from", said.partition("training sets (21)")[2]))
    expect(known == 20 and "not read: it holds prompts" in said, f"{known} sets are read")
    for layout, row in SAMPLES.items():
        form = "tools" if layout == "python-tools" else "trl"
        scratch.write(f"layouts/{layout}.json", [row])
        line = f"data convert layouts/{layout}.json --from {layout} --to {form} -o layouts/{layout}.jsonl"
        scratch.wildtool(line, show=layout == "xlam")
        expect(len(scratch.records(f"layouts/{layout}.jsonl")) == 1, f"{layout} is lost")
    layouts = f"a row of each of {len(SAMPLES)} layouts converted"
    return f"21 sets listed, {known} with a reader and one without dialogues; {layouts}"


def training_rows_by_two(scratch: Scratch) -> str:
    for line in (
        "generate --model procedural --sessions 16 -o loop.jsonl",
        "run wildtoolbench --data loop.jsonl --model baseline/gold --profile fixed --quiet --out loop",
        "data convert loop --to sharegpt -o train.jsonl",
    ):
        scratch.wildtool(line, show=False)
    found = line_with(scratch.wildtool("review start train.jsonl"), "rules passed")
    for name in ("ann", "bob"):
        scratch.wildtool(f"review people add train.jsonl {name}", show=False)
    drawn = line_with(
        scratch.wildtool("review round train.jsonl --people ann,bob --share 0.2"), "for ann and bob"
    )
    expect(found.startswith("16 rules passed"), found)
    with open_review(str(scratch.folder / "train.jsonl")) as review:
        items = [name for name, item in review.state.items.items() if item.stage == "in review"]
        for name in items:
            for who in ("ann", "bob"):
                decide(review, who, name)
    agreed = line_with(scratch.wildtool("review stats train.jsonl"), "same verdict")
    return f"{found}, no benchmark named; {drawn}; {agreed}"


SERIES = """[series]
benchmarks = ["wild-mini"]
[[point]]
name = "base"
model = "baseline/random"
size = 0
"""
POINT = '[[point]]\nname = "{arm}-{steps}"\nmodel = "baseline/{model}"\nsize = 1000\nsteps = {steps}\narm = "{arm}"\n'


def steps(scratch: Scratch) -> str:
    points = (
        ("all", 100, "chat"),
        ("all", 200, "lexical"),
        ("random", 100, "random"),
        ("random", 200, "chat"),
    )
    written = [POINT.format(arm=arm, steps=count, model=model) for arm, count, model in points]
    scratch.write("series.toml", SERIES + "".join(written))
    scratch.wildtool("run series.toml --limit 4 --quiet -o series")
    scratch.wildtool("compare series.toml --curve step -o series")
    rows = scratch.rows("series/curve.csv")
    found = [(row["arm"], row["size"], f"{float(row['score']):.1%}") for row in rows]
    expect(
        {(arm, size) for arm, size, _ in found} >= {(arm, str(count)) for arm, count, _ in points}, str(found)
    )
    return ", ".join(f"{arm} after {size} steps: {score}" for arm, size, score in found)


def unseen_tools(scratch: Scratch) -> str:
    line = "generate --model procedural --sessions 32 --hold-out-tools 0.25 -o parts.jsonl"
    scratch.wildtool(line)
    for data, model, name in (
        ("parts", "gold", "train"),
        ("parts.held-out", "lexical", "test"),
        ("parts", "lexical", "same"),
    ):
        scratch.wildtool(
            f"run wildtoolbench --data {data}.jsonl --model baseline/{model} --profile fixed --quiet --out parts/{name}",
            show=False,
        )
    scratch.wildtool("data convert parts/train --to sharegpt -o parts-train.jsonl", show=False)
    found: list[str] = []
    for name, row in (("same", "seen in training"), ("test", "unseen in training")):
        said = scratch.wildtool(f"data overlap parts-train.jsonl --runs parts/{name}")
        rows = [line for line in said.splitlines() if line.startswith(("seen", "near", "unseen"))]
        expect(len(rows) == 1 and rows[0].startswith(row), f"{name}: {rows}")
        found.append(" ".join(rows[0].split()))
    return "; ".join(found)


def shortcuts(scratch: Scratch) -> str:
    seen: list[str] = []
    for policy, row in (("forwards", "passed the value on"), ("asks", "asked the user"), ("gold", "noticed")):
        scratch.wildtool(
            f"run wild-mini --model baseline/{policy} --failures passed-on --quiet --out shortcuts/{policy}"
        )
        cell = metrics_of(scratch, f"shortcuts/{policy}")["shortcuts", row]
        expect(cell["value"] == 1 and cell["denominator"] > 10, f"{policy}: {cell}")
        seen.append(f"{policy}: {row} {cell['numerator']:g} of {cell['denominator']:g}")
    return "; ".join(seen)


def read_cases(scratch: Scratch) -> dict[tuple[str, str], dict[str, Any]]:
    """Failures of a run, read by two people; the numbers of the run with their labels."""
    scratch.wildtool("run wild-mini --model baseline/lexical --quiet --out read", show=False)
    scratch.wildtool("review start read --failed --sample 4 --labels toleap")
    if not (scratch.folder / "read.done").exists():
        for reader, keys in (("ann", "1s2s3s1s"), ("bob", "1s2s3s2s")):
            with terminal(scratch.folder, "read", "--reader", reader) as opened:
                opened.type(keys)
                expect("all 4 cases are read" in opened.text, opened.text[-300:])
        scratch.write("read.done", "")
    scratch.shown.append("wildtool review quick read --reader ann")
    return metrics_of(scratch, "read")


def types_of_bad_cases(scratch: Scratch) -> str:
    numbers = {name: cell for (group, name), cell in read_cases(scratch).items() if group == "bad cases"}
    expect(sum(cell["numerator"] > 0 for cell in numbers.values()) >= 3, str(numbers))
    return "; ".join(f"{name} {cell['value']:.0%}" for name, cell in numbers.items())


def many_cases_read(scratch: Scratch) -> str:
    read_cases(scratch)
    figures = json.loads(scratch.printed("review stats read --json"))
    same = next(
        row for row in figures if row["group"].startswith("agreement") and row["name"] == "same labels"
    )
    kept = Counter(row["group"] for row in figures)
    expect(0 < same["value"] <= 1 and "bad cases" in kept, str(kept))
    scratch.wildtool("export read --format csv --out read.csv")
    labelled = [row for row in scratch.rows("read.csv") if row["labels"]]
    expect(len(labelled) == 4, f"{len(labelled)} rows with labels")
    return f"4 cases of 2 readers, same labels {same['value']:.0%}; labels in {len(labelled)} rows of the CSV"
