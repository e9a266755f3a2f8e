"""What the papers that this project realises describe and earlier versions lacked or had only in part: each is played by
commands, and called works only for what these print or write.

    python bench/papers.py [--official FOLDER] [--row N]… [--keep FOLDER]

Rows are of five documents, read line by line: the papers of WildToolBench (and its repository), ACEBench and ToLeaP, and
an article on agents in finance. Models are policies that come with wildtool, and scripted ones on this machine; nothing
else is asked. FOLDER holds official data by benchmark, as `wildtool data pull NAME --from` takes them, and BFCL's two
packages; a row that needs them and has none says so. Exit status 1 if a row does not work, or if more than eight keep a
reason. Prints the table of docs/published.md.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import papers_generation as making
import papers_results as results
from loopback import ROOT
from papers_scratch import NoDataError, NotSeenError, Scratch, scripted_models

WILDTOOLBENCH, REPOSITORY, FINANCE = "WildToolBench", "WildToolBench's repository", "article on finance"
ACEBENCH, TOLEAP = "ACEBench", "ToLeaP"
MOST_REASONS = 8
"""Rows that may stay unplayed."""


@dataclass(frozen=True, slots=True)
class Row:
    """Something that a document describes."""

    number: int
    """Its place among all 178."""
    document: str
    section: str
    asked: str
    play: Callable[[Scratch], str] | None = None
    """Gives what was seen; None where it cannot be played here."""
    reason: str = ""
    """Why it cannot."""


ROWS = (
    Row(
        3,
        WILDTOOLBENCH,
        "3.2, Table 1",
        "shares of contextual, hidden, changing and combined tasks of several benchmarks",
        results.shares_of_benchmarks,
    ),
    Row(
        4,
        WILDTOOLBENCH,
        "3.2",
        "scenarios and patterns from real users as seeds and examples",
        making.seeds_and_patterns,
    ),
    Row(5, WILDTOOLBENCH, "3.2", "a pool of hundreds of lists of tools", making.many_tools),
    Row(18, WILDTOOLBENCH, "3.6, Figure 5f", "types of tools by domain", results.tool_types),
    Row(24, WILDTOOLBENCH, "4.4", "what was done before biases what comes next", results.what_went_before),
    Row(
        27,
        WILDTOOLBENCH,
        "6",
        "recorded predictions of 57 models scored again",
        reason="nobody here has these files; today's form of them is read (docs/score.md)",
    ),
    Row(
        29,
        WILDTOOLBENCH,
        "B, Figure 1, Table 5",
        "accuracy of sessions beside other benchmarks",
        results.other_benchmarks_drawn,
    ),
    Row(31, WILDTOOLBENCH, "C", "experts refine the tools before tasks are made", making.tools_by_people),
    Row(33, WILDTOOLBENCH, "C", "five dimensions of diversity", making.five_dimensions),
    Row(34, WILDTOOLBENCH, "C, F", "five candidates that differ inside the five", making.five_differ),
    Row(
        35,
        WILDTOOLBENCH,
        "F.2 to F.5",
        "tasks with several tools and questions are of medium difficulty or above",
        making.demanding_tasks,
    ),
    Row(49, WILDTOOLBENCH, "F.5", "clarify tasks lack all required values", making.all_values_missing),
    Row(
        50, WILDTOOLBENCH, "F.7", "an example history with its continuation", making.history_with_continuation
    ),
    Row(51, WILDTOOLBENCH, "F", "the paper's own texts for roles", making.own_texts),
    Row(
        54,
        REPOSITORY,
        "API",
        "models at Azure",
        reason="needs an account; the protocol is tested at a local server",
    ),
    Row(
        55,
        REPOSITORY,
        "local",
        "local weights, deployed and asked",
        reason="needs the extra [hf] and weights, which are a download (docs/models.md)",
    ),
    Row(59, REPOSITORY, "run", "English and Chinese", results.chinese),
    Row(60, REPOSITORY, "run", "switches to leave out the context, or a role", results.without_context),
    Row(61, REPOSITORY, "evaluation", "matrix of types by positions", results.matrix),
    Row(70, REPOSITORY, "generation", "a list of models for the user's role", making.several_users),
    Row(
        73,
        REPOSITORY,
        "data",
        "the official test data",
        reason="a download; `wildtool data pull wildtoolbench` says where from, and takes a file",
    ),
    Row(85, FINANCE, "catalogue", "sessions over finance tools by templates", making.finance_sessions),
    Row(86, FINANCE, "catalogue", "single requests over finance tools by templates", making.finance_items),
    Row(87, FINANCE, "values", "tickers, amounts and periods compared by meaning", results.finance_values),
    Row(89, FINANCE, "tutorial", "a worked example for a user's domain, in finance", making.finance_tutorial),
    Row(106, ACEBENCH, "3.1.1", "tools from technical documents", making.tools_from_documents),
    Row(
        111,
        ACEBENCH,
        "3.1.1, B.1",
        "agent items: scenario, sandbox, question, milestones",
        making.agent_items,
    ),
    Row(120, ACEBENCH, "3.1.3, Figure 2", "domains of the tools", results.domains_of_items),
    Row(122, ACEBENCH, "3.1.3, Figure 4", "distribution of turns and arguments", results.turns_and_arguments),
    Row(123, ACEBENCH, "1, Table 1", "comparison with other benchmarks", results.beside_other_benchmarks),
    Row(135, ACEBENCH, "4.3, Figure 7", "score by the size of models", results.sizes),
    Row(136, ACEBENCH, "4.3, D.4", "standard, condensed and minimal prompts", results.prompt_strategies),
    Row(147, TOLEAP, "C, 4.2", "BFCL's version 3", results.bfcl_version_3),
    Row(150, TOLEAP, "D, Figure 7", "the representative number of each benchmark", results.metric_of_each),
    Row(151, TOLEAP, "Figures 2 and 7", "charts across benchmarks", results.charts_across),
    Row(155, TOLEAP, "E", "the better of two modes of each model", results.better_mode),
    Row(
        158,
        TOLEAP,
        "Tables 4 to 6",
        "published figures of Seal-Tools, TaskBench and BFCL",
        reason="these tables are damaged in the text that could be had",
    ),
    Row(159, TOLEAP, "3.3", "21 training sets in one form", results.training_sets),
    Row(161, TOLEAP, "3.3", "two people check sampled training rows", results.training_rows_by_two),
    Row(166, TOLEAP, "H", "score by training steps", results.steps),
    Row(167, TOLEAP, "4.2", "score on tools that training did not have", results.unseen_tools),
    Row(168, TOLEAP, "4.2", "values passed on unchecked", results.shortcuts),
    Row(169, TOLEAP, "4.2", "bad cases of types I, II and III", results.types_of_bad_cases),
    Row(170, TOLEAP, "4.2", "many bad cases, read by people", results.many_cases_read),
    Row(
        178,
        TOLEAP,
        "5",
        "the loop from data to training and back",
        reason="the training needs torch and weights, which are downloads; docs/training-loop.md has what it brought",
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a row ended."""

    row: Row
    verdict: str
    """`works`, `reason`, `no data` or `fails`."""
    seen: str
    commands: tuple[str, ...] = ()


def played(row: Row, scratch: Scratch) -> Outcome:
    """Plays a row."""
    if row.play is None:
        return Outcome(row, "reason", row.reason)
    scratch.shown.clear()
    try:
        seen = row.play(scratch)
    except NoDataError as problem:
        return Outcome(row, "no data", str(problem))
    except (NotSeenError, LookupError, TypeError, ValueError) as problem:
        return Outcome(row, "fails", f"{type(problem).__name__}: {problem}", tuple(scratch.shown))
    return Outcome(row, "works", seen, tuple(scratch.shown))


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a table in Markdown."""
    lines = [
        "| row | document, section | what it describes | played by | seen, or the reason | |",
        "|" + "---|" * 6,
    ]
    for each in outcomes:
        commands = "<br>".join(f"`{command}`" for command in dict.fromkeys(each.commands)) or "–"
        cells = (
            str(each.row.number),
            f"{each.row.document}, {each.row.section}",
            each.row.asked,
            commands,
            each.seen,
            each.verdict,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--official", type=Path, default=ROOT.parent / "shared" / "data", help="official data"
    )
    parser.add_argument("--row", type=int, action="append", help="only this row; repeatable")
    parser.add_argument("--keep", type=Path, help="a new folder to play in, which stays")
    options = parser.parse_args()
    unknown = set(options.row or ()) - {row.number for row in ROWS}
    if unknown:
        parser.error(f"no row {', '.join(map(str, sorted(unknown)))}")
    place = tempfile.TemporaryDirectory() if options.keep is None else nullcontext(options.keep)
    with place as name:
        folder = Path(name).resolve()
        folder.mkdir(exist_ok=True)
        answers = folder / "answers.json"
        answers.write_text(json.dumps(results.finance_replies()), encoding="utf-8")
        asked: list[dict[str, object]] = []
        with scripted_models(asked, answers) as addresses:
            scratch = Scratch(folder, options.official.resolve(), addresses, asked)
            rows = [row for row in ROWS if not options.row or row.number in options.row]
            outcomes: list[Outcome] = []
            for row in rows:
                outcomes.append(played(row, scratch))
                print(
                    f"{row.number} {outcomes[-1].verdict}: {outcomes[-1].seen}", file=sys.stderr, flush=True
                )
    print(table(outcomes))
    counts = Counter(outcome.verdict for outcome in outcomes)
    print(f"\n{len(outcomes)} rows: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    sys.exit(1 if counts["fails"] or counts["reason"] > MOST_REASONS else 0)


if __name__ == "__main__":
    main()
