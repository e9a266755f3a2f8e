"""The release of a review: approved items as a data file that `run` plays, with provenance, a card and preference pairs.

Everything follows from the log alone: the same log gives the same bytes. People appear by pseudonyms; remarks stay in the
log.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.data.files import file_sha256
from wildtool.engine.score.formatting import format_counts, format_value
from wildtool.errors import UsageError
from wildtool.findings import Finding
from wildtool.json_codec import as_object
from wildtool.outputs import check_folder
from wildtool.temporary import lasting_files
from wildtool.types import Metric
from wildtool_data.formats.base import ItemPart
from wildtool_data.make.core.files import PROVENANCE_FILE, json_line, storage_errors, write_whole_file
from wildtool_data.pointers import ABSENT, differences, overlap, same_json, value_at
from wildtool_review.figures import review_figures
from wildtool_review.history import ItemHistory, model_of
from wildtool_review.log import Entry
from wildtool_review.people import pseudonyms
from wildtool_review.project import ReviewProject
from wildtool_review.rounds import round_qualities

MANIFEST_FILE = "manifest.json"
PREFERENCES_FILE = "preferences.jsonl"
CARD_FILE = "card.md"
RELEASE_FORMAT = "wildtool review release"
_NOT_PREFERRED = ("alternatives", "edge kinds")
"""Parts that say more about gold and replace nothing."""
_FIGURES = (
    ("stop rule", "When to stop"),
    ("agreement", "Agreement"),
    ("precision of warnings", "Precision of warnings"),
)
"""Groups of figures in the card, with their titles."""
ONE_REVIEWER = "One reviewer per item is enough, as the set says (`reviewers: 1`)."
"""Said of a set whose items nobody has to review a second time."""
_BAR = 20
"""Characters of a full bar in the card."""


def write_release(
    project: ReviewProject, out: Path, *, force: bool = False, allow_findings: bool = False
) -> Mapping[str, Any]:
    """Writes a release into a folder; returns its manifest.

    Args:
        force: write into a folder that holds something else.
        allow_findings: also if rules find something in approved items; the card names it.

    Raises:
        UsageError: if nothing is approved, approved items have findings, or the folder holds something else.
        RecordError: if the log is damaged.
        StorageError: if there is no room.
    """
    project.follow_log(project.store.name)
    approved = [summary.id for summary in project.state.items.values() if summary.stage == "approved"]
    if not approved:
        raise UsageError("no item is approved yet; `wildtool review stats` shows where they are")
    findings = [(item, summary) for item in approved for summary in project.open_findings(item)]
    if findings and not allow_findings:
        item, first = findings[0]
        count = len({name for name, _ in findings})
        raise UsageError(
            f"rules find something in {count:,} of {len(approved):,} approved items, such as {item}: {first.rule}: "
            f"{first.message}; correct it, or export with --allow-findings, which names all findings in the card"
        )
    check_folder(out, _is_release, force=force)
    entries = list(project.store.read())
    names = pseudonyms(entries)
    with storage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        # A later release recognises the folder by this manifest, even if this process is killed.
        write_whole_file(
            out / MANIFEST_FILE, [json.dumps({"format": RELEASE_FORMAT, "unfinished": True}) + "\n"]
        )
        _write_items(project, approved, out)
        histories = project.histories
        write_whole_file(
            out / PROVENANCE_FILE, (json_line(item_provenance(item, names)) for item in histories(approved))
        )
        pairs = (pair for item in histories(approved) for pair in preference_pairs(item, names))
        write_whole_file(out / PREFERENCES_FILE, map(json_line, pairs))
        write_whole_file(out / CARD_FILE, [_card(project, approved, findings, entries[-1])])
        files = [path for path in lasting_files(out) if path.name != MANIFEST_FILE]
        manifest = {
            "format": RELEASE_FORMAT,
            "version": 1,
            "benchmark": project.format.name,
            "data": project.format.file_name,
            "items": len(approved),
            "log": {"entries": project.state.n, "digest": project.state.digest},
            "files": {path.relative_to(out).as_posix(): file_sha256(path) for path in files},
        }
        write_whole_file(out / MANIFEST_FILE, [json.dumps(manifest, indent=1) + "\n"])
    return manifest


def item_provenance(item: ItemHistory, names: Mapping[str, str]) -> dict[str, Any]:
    """Who or what wrote each part of an approved item, and who approved it.

    Args: names: pseudonyms of people.
    """
    outcome = item.outcome
    assert outcome is not None
    return {
        "id": item.id,
        "version": len(item.versions),
        "digest": item.digest,
        "made_by": _maker(item.versions[0].content),
        "reviewed_by": sorted(_alias(person, names) for person in item.passes[-1].decisions),
        "approved_by": _alias(outcome.who, names),
        "adjudicated": outcome.kind == "resolve",
        "round": outcome.round,
        "fields": {part.field: _source(part, item, names) for part in item.format.parts(item.content)},
    }


def preference_pairs(item: ItemHistory, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What people replaced in an approved item: the text before as rejected, the one now as chosen."""
    parts = item.format.parts(item.content)
    first = item.versions[0].content
    for change in differences(first, item.content):
        part = next(
            (part for part in parts if overlap(part.field, change.field)), ItemPart(change.field, "other")
        )
        entry = _last_edit(item, part.field)
        if entry is None or model_of(entry) or part.kind in _NOT_PREFERRED:
            continue
        before, after = (value_at(content, part.field) for content in (first, item.content))
        reasons = sorted(
            {
                reason
                for past in item.passes
                for decision in past.decisions.values()
                for reason in decision.reason
            }
        )
        yield {
            "item": item.id,
            "field": part.field,
            "kind": part.kind,
            "task": part.task,
            "context": [str(text) for text in item.format.user_texts(item.content)[: part.task]]
            if part.task
            else [],
            "rejected": None if before is ABSENT else before,
            "chosen": None if after is ABSENT else after,
            "by": _alias(entry.who, names),
            "reasons": reasons,
        }


def _write_items(project: ReviewProject, approved: Sequence[str], out: Path) -> None:
    place = out / project.format.file_name
    if place.is_dir():
        shutil.rmtree(place)
    project.format.write((item.content for item in project.histories(approved)), place)


def _source(part: ItemPart, item: ItemHistory, names: Mapping[str, str]) -> dict[str, Any]:
    entry = _last_edit(item, part.field)
    if entry is None:
        return {"by": _maker(item.versions[0].content)["by"]}
    if model := model_of(entry):
        return {"by": "model", "model": model, "person": _alias(entry.who, names), "entry": entry.n}
    return {"by": "person", "person": _alias(entry.who, names), "entry": entry.n}


def _last_edit(item: ItemHistory, field: str) -> Entry | None:
    """The edit of the item itself that first made a part what it is now; None if it is as it was at first."""
    now = value_at(item.content, field)
    first = next(version for version in item.versions if same_json(value_at(version.content, field), now))
    return None if first is item.versions[0] else first.entry


def _maker(content: Any) -> dict[str, Any]:
    """What made the first version: models, rules alone, or the author of the set."""
    made_by = as_object(as_object(content).get("made_by"))
    models = {str(role): str(name) for role, name in as_object(made_by.get("models")).items()}
    if models:
        return {"by": "model", "models": models}
    return {"by": "rule" if made_by else "set"}


def _alias(person: str, names: Mapping[str, str]) -> str:
    return names.get(person, person)


def _card(
    project: ReviewProject,
    approved: Sequence[str],
    findings: Sequence[tuple[str, Finding]],
    last: Entry,
) -> str:
    """The data card, in Markdown."""
    items = project.state.items
    strata = Counter(stratum for id_ in approved for stratum in items[id_].strata)
    lines = [
        f"# {len(approved)} reviewed items",
        "",
        f"Format: {project.format.name}. Approved: {len(approved)} of {len(items)}. Last change: {last.when[:10]}.",
        f"Log: {project.state.n} entries, digest `{project.state.digest}`.",
        *([ONE_REVIEWER] if project.state.reviewers == 1 else []),
        "",
        "## Types",
        "",
        *_table(
            ("type", "subtype", "tasks"),
            [(*stratum, str(count)) for stratum, count in sorted(strata.items())],
        ),
        "",
        "## Quality by round",
        "",
        "Share of the sampled items in which the review found no error, with its 95 % interval (Wilson). Published:",
        "WildToolBench's data curation.",
        "",
        *_table(("round", "items", "quality", "95 % interval", "", "published"), list(_round_rows(project))),
        "",
        "## Open findings",
        "",
        "What the rules find in approved items, which people left as they are.",
        "",
        *_table(
            ("item", "rule", "severity", "field", "message"),
            [
                (item, finding.rule, finding.level, finding.field, finding.message)
                for item, finding in findings
            ],
        ),
        "",
    ]
    lines += _example_lines(item.content for item in project.histories(approved))
    figures = review_figures(project)
    for group, title in _FIGURES:
        rows = [(each.name, format_value(each), _size(each)) for each in figures if each.group == group]
        lines += [f"## {title}", "", *_table(("", "value", "of"), rows), ""]
    return "\n".join(lines)


def _example_lines(contents: Iterable[Any]) -> list[str]:
    """What the card says of the real users' conversations that items were made with; empty where none was."""
    origins = [
        as_object(as_object(as_object(content).get("made_by")).get("examples")) for content in contents
    ]
    made = [origin for origin in origins if origin]
    if not made:
        return []
    overlaps = [share for origin in made if isinstance(share := origin.get("overlap"), int | float)]
    bounds = [share for origin in made if isinstance(share := origin.get("bound"), int | float)]
    return [
        "## Examples",
        "",
        f"{len(made)} items were made with conversations of real users as examples; personal details were replaced in",
        "these. Share of the 5-word sequences of a message that the examples have, when it was made: at most",
        f"{max(overlaps, default=0.0):.3f}; above {max(bounds, default=0.0):g} a message is refused. Edits by people",
        "are not compared with the examples.",
        "",
    ]


def _round_rows(project: ReviewProject) -> Iterator[Sequence[str]]:
    for quality in round_qualities(project.state):
        if quality.rate is None or quality.low is None or quality.high is None:
            yield str(quality.number), str(quality.sampled), "–", "–", "", ""
            continue
        full = round(quality.rate * _BAR)
        published = "–" if quality.published is None else f"{100 * quality.published:.0f} %"
        interval = f"{100 * quality.low:.1f} to {100 * quality.high:.1f} %"
        bar = "█" * full + "░" * (_BAR - full)
        yield str(quality.number), str(quality.ended), f"{100 * quality.rate:.1f} %", interval, bar, published


def _size(metric: Metric) -> str:
    return format_counts(metric) if metric.kind == "rate" else f"{metric.denominator:,.10g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not body:
        return ["None."]
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *body]


def _cell(text: str) -> str:
    """A text as one cell: what Markdown or HTML would read as markup is escaped."""
    plain = "".join(" " if ch.isspace() else ch for ch in text)
    return "".join(f"&#{ord(ch)};" if ch in "|<>&`*_[]\\" else ch for ch in plain)


def _is_release(folder: Path) -> bool:
    try:
        return as_object(json.loads((folder / MANIFEST_FILE).read_bytes())).get("format") == RELEASE_FORMAT
    except (OSError, ValueError, RecursionError):
        return False
