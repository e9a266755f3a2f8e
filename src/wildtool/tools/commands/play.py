"""Puts requests to models that choose among your tools, and shows what runs of it say."""

from collections.abc import Sequence
from pathlib import Path

from wildtool.api.settings import Settings
from wildtool.cli.command import worst_status
from wildtool.cli.options.run import settings_values
from wildtool.config.config_file import read_config
from wildtool.errors import UsageError
from wildtool.outputs import check_file, check_folder, is_remote, is_site, make_folder, write_file
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.sources.named import ToolSource

VERSIONS = ("old", "new")


def play(sources: Sequence[ToolSource], its: TryOptions, explicit: set[str]) -> int:
    """Puts requests to models, with the tools of one source or of two versions of it, and shows what comes out."""
    from wildtool.api.plans import plan
    from wildtool.cli.commands.run import execute_runs
    from wildtool.terminal import print_err
    from wildtool.tools.requests import choice_text

    out = its.out or Path("runs", "catalogue")
    names = VERSIONS if len(sources) > 1 else ("tools",)
    data = [out / f"{name}.json" for name in names]
    for path in data:
        check_file(path, force=its.force)
    check_folder(out / "pages", is_site, force=its.force)
    texts = [choice_text(each.tools(print_err), its.requests or (), print_err) for each in sources]
    for name, path, text in zip(names, data, texts, strict=True):
        if not path.exists() or path.read_bytes() in (b"", text):
            continue
        if (out / "runs" / name).exists():
            raise UsageError(
                f"{path}: earlier runs had other tools or requests; name another folder with --out"
            )
        if not its.force:
            raise UsageError(
                f"{path}: has other tools or requests, which runs elsewhere may need; name another folder with --out, "
                "or add --force to replace it"
            )
    writes = bool(its.model) or not its.dry_run
    if writes:
        make_folder(out)
        for path, text in zip(data, texts, strict=True):
            write_file(path, text)
    if not its.model:
        state = "written." if writes else "would be written, for"
        for name, path in zip(names, data, strict=True):
            print_err(
                f"{path}: {state} wildtool run own-tools --data {path} -o {out / 'runs' / name} -m NAME"
            )
        return 0
    of_tools = {"out", "mcp_env", "mcp_header"}
    values = {name: value for name, value in settings_values(its).items() if name not in of_tools}
    entries, notes = read_config(None).models, None if its.quiet else print_err
    statuses: list[int] = []
    folders: list[list[Path]] = []
    for name, path in zip(names, data, strict=True):
        settings = Settings.of("own-tools", its.model, {**values, "data": str(path)}, explicit)
        runs = plan(settings, entries, report=notes, parent=out / "runs" / name)
        statuses.append(execute_runs(runs, settings, tables=False))
        folders.append([run.folder for run in runs])
    status = worst_status(statuses)
    if its.dry_run or status not in (0, 3):
        return status
    return worst_status([status, report(folders, its, out / "pages")])


def existing_paths(names: Sequence[str]) -> list[Path]:
    """Runs as local paths. Raises UsageError for one that is not there."""
    from wildtool.cli.options.shared import local_run

    paths = list(map(Path, names))
    for path in paths:
        if not is_remote(path) and not path.exists():
            raise UsageError(f"{path}: there is no such file or folder; give tools, or the folder of a run")
    return [local_run(path) for path in paths]


def show_runs(paths: list[Path], its: TryOptions, *, versions: bool = False) -> int:
    """Shows runs of own-tools, or how accuracy falls with the size of a catalogue.

    Args:
        versions: whether the paths are an old and a new version.
    """
    from wildtool.benchmarks.own_tools import OWN_TOOLS
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.score.results import run_folders

    groups = [run_folders(path) for path in paths]
    kinds = {read_run(folder)["identity"]["benchmark"] for group in groups for folder in group}
    if kinds == {OWN_TOOLS.name}:
        return report(groups if versions else [[each for group in groups for each in group]], its, its.out)
    if versions or OWN_TOOLS.name in kinds:
        raise UsageError(
            "give runs of own-tools alone, as `wildtool tools try TOOLS --requests FILE` makes them"
        )
    from wildtool.cli.output.sizes import show_size_curve

    return show_size_curve(paths, its.profile, its.prices, its.out, force=its.force)


def report(folders: list[list[Path]], its: TryOptions, pages: Path | None) -> int:
    """Shows runs, in pages too if a folder is given for them; of two groups the old version against the new one."""
    from wildtool.tools.commands import choice_output as output
    from wildtool.tools.confusion import choice_report
    from wildtool.tools.versions import compare_versions, pair_versions

    groups = [list(map(choice_report, group)) for group in folders]
    comparisons = [compare_versions(*pair) for pair in pair_versions(*groups)] if len(groups) > 1 else []
    reports = [report for group in groups for report in group]
    if its.as_json:
        output.print_json(reports, comparisons)
    else:
        for comparison in comparisons:
            output.print_versions(comparison)
        for report in [] if comparisons else reports:
            output.print_choices(report)
    if pages is not None:
        from wildtool.terminal import print_err
        from wildtool.tools.commands.choice_page import write_pages

        check_folder(pages, is_site, force=its.force)
        versions = [f" ({name})" for name in VERSIONS] if len(groups) > 1 else [""]
        titled = [
            (f"{report.result.model}{version}", report)
            for version, group in zip(versions, groups, strict=True)
            for report in group
        ]
        print_err(f"What to change first: {write_pages(pages, titled, comparisons)}")
    return worst_status([report.result.exit_status for report in reports])
