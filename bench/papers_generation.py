"""The rows of `papers.py` about making data: sessions, items and tools, by templates and by scripted models."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from shutil import copytree
from typing import Any

from loopback import ROOT
from papers_scratch import Scratch, expect, line_with, role_models, run_counts

# What follows is found where papers_scratch says.
# isort: split
from generate.procedural.test_described_values import FINANCE
from generate.sessions.players import TOOLS
from generate.tools.players import MARKET
from review.made_sets import decide, edit
from review.test_toolbox import TOOLS as SHOP_TOOLS
from wildtool_data.make.core.prompts import SESSION_ROLES
from wildtool_data.make.tools.script import API_ROLES
from wildtool_review.sets import open_review

LENGTHS = ["very short", "short", "medium", "long", "very long"]
DEMANDING = ("Multi-Tool", "Clarify")
OWN_TEXT = "Of messages of the kind {{wanted.kind}} choose the one that sounds most real."
TALKS = [
    ["My suitcase {} did not arrive in Porto this morning, please find it.", "When does it come then?"],
    ["Please tell the hotel {} that we come two hours late.", "And how much is that more?"],
    ["The ferry {} was cancelled, so I need another one today.", "Two of us, not three."],
]
SET = (
    f"generate --model agent {role_models([*SESSION_ROLES])} --base-url {{sessions}} "
    "--tools tools.json --sessions 12 --out set"
)
LIKE_USERS = (
    f"generate --model agent {role_models([*SESSION_ROLES])} --base-url {{sessions}} --role-model user=user "
    "--tools tools.json --examples talks.jsonl --scenarios scenarios.txt --role-prompts texts --sessions 4 "
    "--out like-users"
)


def made(scratch: Scratch) -> list[dict[str, Any]]:
    """Sessions by models, with nothing of one's own but tools."""
    scratch.write("tools.json", TOOLS)
    said = scratch.wildtool(SET)
    line_with(said, "12 sessions, 0 lost")
    return scratch.records("set/sessions.jsonl")


def made_like_users(scratch: Scratch) -> tuple[str, list[dict[str, Any]]]:
    """Sessions after real users, and what the command said."""
    scratch.write("tools.json", TOOLS)
    talks = [[text.format(number) for text in talk] for number in range(2) for talk in TALKS]
    scratch.write(
        "talks.jsonl",
        [{"messages": [{"role": "user", "content": text} for text in talk]} for talk in talks],
    )
    scratch.write("scenarios.txt", "A library is closed.\nA book club meets.\n")
    scratch.write("texts/en/judge.txt", OWN_TEXT)
    return scratch.wildtool(LIKE_USERS), scratch.records("like-users/sessions.jsonl")


def asked_of(scratch: Scratch, role: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The instruction and the situation of each request to a role."""
    for body in scratch.asked:
        if body["model"] == role:
            yield body["messages"][0]["content"], json.loads(body["messages"][1]["content"])


def planned(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The plans of all tasks."""
    return [task for session in sessions for task in session["made_by"]["plan"]["tasks"]]


def proposed(sessions: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The messages that were proposed for each task."""
    return [task for session in sessions for task in session["made_by"]["candidates"]]


def seeds_and_patterns(scratch: Scratch) -> str:
    said, sessions = made_like_users(scratch)
    read = line_with(said, "examples: 6 conversations")
    shown = [seen for _, seen in asked_of(scratch, "user") if "patterns" in seen]
    expect(any("suitcase" in json.dumps(seen["examples"]) for seen in shown), "no example was shown")
    scenarios = {row["scenario"] for session in sessions for row in session["made_by"]["candidates"][0]}
    expect(scenarios == {1, 2}, f"scenarios {scenarios}")
    overlaps = [session["made_by"]["examples"]["overlap"] for session in sessions]
    expect(max(overlaps) <= 0.3, f"overlap {max(overlaps)}")
    return f"{read}; shown in {len(shown)} requests to the user; 2 scenarios used; highest overlap {max(overlaps):.0%}"


def many_tools(scratch: Scratch) -> str:
    tools = scratch.official_file("wildtoolbench_tools/tools_en.jsonl")
    lists = tools.read_text("utf-8").splitlines()
    scratch.write("tools_en.jsonl", "\n".join(lists) + "\n")
    said = scratch.wildtool(
        "generate --model procedural --tools tools_en.jsonl --sessions 32 -o from-repository.jsonl"
    )
    line_with(said, "from-repository.jsonl: 32 sessions")
    line_with(scratch.wildtool("data lint from-repository.jsonl"), "no findings")
    count = sum(len(json.loads(line)) for line in lists)
    return f"32 sessions over {len(lists)} lists of {count:,} tools, as the repository has them; lint without findings"


def tools_by_people(scratch: Scratch) -> str:
    scratch.write("shop-tools.json", SHOP_TOOLS)
    line_with(scratch.wildtool("review start shop-tools.json"), "4 items, 4 new")
    with open_review(str(scratch.folder / "shop-tools.json")) as review:
        edit(review, "owner", "cancel_order", "Cancel an order.", "/function/description")
        edit(review, "owner", "fetch_order", "get_order", "/merge_into")
        for name in ("get_order", "fetch_order", "cancel_order"):
            decide(review, "owner", name)
        decide(review, "owner", "do_magic", "reject", "tool-misfit")
    scratch.wildtool("review export shop-tools.json -o reviewed")
    names = [tool["function"]["name"] for tool in json.loads(scratch.text("reviewed/tools.json"))]
    expect(sorted(names) == ["cancel_order", "get_order"], f"released: {names}")
    scratch.wildtool(
        "generate --model procedural --tools reviewed/tools.json --sessions 2 -o over-reviewed.jsonl"
    )
    expect("do_magic" not in scratch.text("over-reviewed.jsonl"), "a rejected tool is in the sessions")
    return f"of 4 tools 1 edited, 2 merged, 1 dropped; sessions are made over {', '.join(names)}"


def five_dimensions(scratch: Scratch) -> str:
    sessions = made(scratch)
    rows = [row for task in proposed(sessions) for row in task]
    values = {name: {row[name] for row in rows} for name in ("form", "tone", "length")}
    values["difficulty"] = {task["difficulty"] for task in planned(sessions)}
    people = [each for session in sessions for each in session["made_by"]["plan"]["backgrounds"]]
    values["background"] = {tuple(person.values()) for person in people}
    expect(all(len(found) >= 3 for found in values.values()), str(values))
    line_with(scratch.wildtool("data stats set/sessions.jsonl"), "by theme")
    return ", ".join(f"{len(found)} of {name}" for name, found in values.items())


def five_differ(scratch: Scratch) -> str:
    tasks = proposed(made(scratch))
    for task in tasks:
        expect([row["length"] for row in task] == LENGTHS, f"lengths {[row['length'] for row in task]}")
        expect(len({row["form"] for row in task}) == 3, "a structure is missing")
        expect(len({row["tone"] for row in task}) == 4, "a tone is missing")
        sizes = [len(row["text"]) for row in task]
        expect(sizes[0] < sizes[-1], f"characters {sizes}")
        expect(sum(bool(row.get("picked")) for row in task) == 1, "not one message is picked")
    return f"in all {len(tasks)} tasks 5 lengths, 3 structures, 4 tones inside the five; one is picked"


def demanding_tasks(scratch: Scratch) -> str:
    counts = Counter(task["difficulty"] for task in planned(made(scratch)) if task["group"] in DEMANDING)
    expect({*counts} == {"medium", "hard"}, str(counts))
    return f"{counts['medium']} medium, {counts['hard']} hard, 0 easy"


def all_values_missing(scratch: Scratch) -> str:
    asked = 0
    for session in made(scratch):
        required = {
            tool["function"]["name"]: tool["function"]["parameters"]["required"]
            for tool in session["english_tools"]
        }
        for kind, task in zip(session["english_task_types"], session["english_answer_list"], strict=True):
            if kind == "Clarify":
                question = task[0]["action"]["arguments"]
                missing = question["missing_required_parameters"]
                expect(sorted(missing) == sorted(required[question["tool_name"]]), f"asked for {missing}")
                asked += 1
    expect(asked > 0, "no clarify task")
    wanted = [
        seen["wanted"] for _, seen in asked_of(scratch, "user") if "leave_out" in seen.get("wanted", {})
    ]
    expect(any("may_give" in each for each in wanted), "no optional value is allowed")
    return (
        f"all required values are asked for in {asked} of {asked} clarify tasks; optional ones may be given"
    )


def history_with_continuation(scratch: Scratch) -> str:
    made_like_users(scratch)
    shown = [
        each
        for _, seen in asked_of(scratch, "user")
        for each in seen.get("examples", [])
        if isinstance(each, dict)
    ]
    expect(
        bool(shown) and all(each["history"] and each["continuation"] for each in shown), f"shown: {shown[:1]}"
    )
    return f"{len(shown)} histories with continuation shown, such as {shown[0]['continuation']!r}"


def own_texts(scratch: Scratch) -> str:
    said, _ = made_like_users(scratch)
    line_with(said, "own texts (en): judge: beginning")
    instructions = [text for text, _ in asked_of(scratch, "judge")]
    filled = [text for text in instructions if "choose the one that sounds most real" in text]
    expect(bool(filled) and not any("{{" in text for text in filled), "the text was not asked with")
    return f"{filled[0].splitlines()[0]!r} in {len(filled)} requests to the judge"


def several_users(scratch: Scratch) -> str:
    _, sessions = made_like_users(scratch)
    speakers = Counter(name for session in sessions for name in session["made_by"]["users"])
    expect({*speakers} == {"user", "user 2"}, str(speakers))
    return ", ".join(f"{name}: {count} tasks" for name, count in sorted(speakers.items()))


def finance_sessions(scratch: Scratch) -> str:
    scratch.write("finance-tools.json", FINANCE)
    scratch.wildtool("generate --model procedural --tools finance-tools.json --sessions 40 -o finance.jsonl")
    line_with(scratch.wildtool("data lint finance.jsonl"), "no findings")
    calls: dict[str, list[tuple[date, dict[str, Any]]]] = {}
    for session in scratch.records("finance.jsonl"):
        today = datetime.fromisoformat(" ".join(session["english_env_info"].split()[:2])).date()
        for action in (node["action"] for task in session["english_answer_list"] for node in task):
            calls.setdefault(action["name"], []).append((today, action["arguments"]))
    symbols = {given["symbol"] for _, given in calls["get_quote"] + calls["get_close"]}
    expect(all(symbol.isalpha() and symbol.isupper() for symbol in symbols), str(symbols))
    future = [given for today, given in calls["get_close"] if date.fromisoformat(given["day"]) >= today]
    expect(not future, f"closing prices of days to come: {future}")
    pairs = [(given["from_currency"], given["to_currency"]) for _, given in calls["convert_currency"]]
    expect(all(first != last for first, last in pairs), str(pairs))
    return (
        f"{len(symbols)} symbols such as {', '.join(sorted(symbols)[:3])}; {len(calls['get_close'])} closing prices, "
        f"none of a day to come; {len(pairs)} conversions, none into the same currency"
    )


def finance_items(scratch: Scratch) -> str:
    part = {"type": "object", "description": "What to keep", "required": ["sector"]}
    part["properties"] = {"sector": {"type": "string", "description": "Sector", "enum": ["energy", "health"]}}
    kinds = {
        "filter": part,
        "fields": {"type": "array", "items": {"type": "string", "enum": ["price", "yield"]}},
        "delayed": {"type": "boolean"},
    }
    screens: list[Any] = []
    for name, schema in kinds.items():
        properties = {"symbol": FINANCE[0]["function"]["parameters"]["properties"]["symbol"]}
        properties[name] = {"description": f"The {name}", **schema}
        screens.append(
            {
                "type": "function",
                "function": {
                    "name": f"screen_{name}",
                    "description": f"Screen the market by {name}.",
                    "parameters": {"type": "object", "properties": properties, "required": ["symbol"]},
                },
            }
        )
    scratch.write("screens.json", [*FINANCE, *screens])
    said = scratch.wildtool(
        "generate acebench --model procedural --tools screens.json --items 15 --kinds list,bool,object-short "
        "--out finance-items"
    )
    scratch.wildtool("data lint finance-items/items")
    return line_with(said, "15 items, 0 lost")


def tools_from_documents(scratch: Scratch) -> str:
    scratch.write("market.md", MARKET)
    said = scratch.wildtool(
        f"generate tools --model agent {role_models([*API_ROLES])} --base-url {{tools}} --documents market.md "
        "--number 6 --out box"
    )
    kept = line_with(said, "6 tools, 0 lost")
    tree = scratch.text("box/tree_en.json")
    expect("Stalls" in tree and "Goods" in tree, f"tree: {tree[:200]}")
    scratch.wildtool(
        "generate --model procedural --tools box/tools_en.jsonl --sessions 2 -o over-documents.jsonl"
    )
    return f"{kept}; the tree has the document's Stalls and Goods"


def agent_items(scratch: Scratch) -> str:
    kinds = "agent_finance_multi_step,agent_finance_multi_turn"
    scratch.wildtool(
        f"generate acebench --model procedural --kinds {kinds} --items 8 --lang en,zh --out agents"
    )
    scratch.wildtool(
        "generate acebench --model agent --role-model writer=writer --role-model judge=judge --base-url {agents} "
        "--judges 1 --kinds agent_finance_multi_step --items 4 --out agents-by-models"
    )
    caught: list[str] = []
    for folder, count in (("agents", 8), ("agents-by-models", 4)):
        scratch.wildtool(
            f"run acebench --data {folder}/items --model baseline/gold --profile fixed --quiet --out gold-{folder}"
        )
        right = run_counts(scratch, f"gold-{folder}")
        expect(right["correct"] == sum(right.values()) == count, str(right))
        said = scratch.wildtool(f"audit acebench --data {folder}/items --profile fixed")
        expect("documented tolerance: the end state decides" in " ".join(said.split()), said[-300:])
        caught.append(line_with(said, "all kinds").split()[-1])
        found, total = map(int, caught[-1].split("/"))
        expect(total - found == count, f"{caught[-1]} planted mistakes caught")
    return (
        f"gold right in 8 items by templates and 4 by models; planted mistakes caught: {' and '.join(caught)} "
        "(all except a missing last sentence, which the end state does not need)"
    )


TUTORIAL = "## A worked example: a broker's assistant\n"


def finance_tutorial(scratch: Scratch) -> str:
    """Plays the commands of the worked example in docs/own-cases.md."""
    page = (ROOT / "docs" / "own-cases.md").read_text("utf-8")
    section = page.partition(TUTORIAL)[2].partition("\n## ")[0]
    commands = [
        part for line in section.splitlines() if line.startswith("wildtool ") for part in line.split(" && ")
    ]
    expect(len(commands) >= 7, f"{len(commands)} commands in the section")
    copytree(ROOT / "docs" / "broker", scratch.folder / "broker")
    for command in commands:
        scratch.wildtool(command.removeprefix("wildtool "), show=False)
    scratch.shown.append("the commands of docs/own-cases.md, A worked example")
    runs = ("broker/baseline--gold", "broker-sessions", "broker-items")
    counts = [run_counts(scratch, f"runs/{run}") for run in runs]
    expect(all(count["correct"] == sum(count.values()) > 5 for count in counts), str(counts))
    right = ", ".join(f"{count['correct']}" for count in counts)
    return f"{len(commands)} commands; gold right in all {right} tasks of cases, sessions and items"
