"""Reads the original tool's own result files, so that published answers can be judged again.

A file is `…/result_<lang>/<model>/data_<category>_result.json`, one `{"id", "result"}` a line, of episodes also
`process`. Lines are matched by id, not by position as the original does (Q34). No file names its language,
so a folder above it must: `result_en`, `result_zh`, `en` or `zh`; the innermost one counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wildtool.benchmarks.acebench.data import CATEGORIES, FINANCE, is_agent, is_multi_turn_agent
from wildtool.benchmarks.acebench.data_lines import JsonLine, read_lines
from wildtool.benchmarks.acebench.episode.base import END_MARK, EPISODE_MESSAGES, MAX_MESSAGES
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named, files_under
from wildtool.errors import DataError
from wildtool.types import Item, Reply, Transcript

LANGUAGE_FOLDERS = {"en": "en", "zh": "zh", "result_en": "en", "result_zh": "zh"}
"""Names of folders, each with the language it stands for."""
UNKNOWN_OPENING = "(what the simulated user said is not in the result file)"
MAX_PROCESS_MESSAGES = 1_000
"""Messages to the sandbox that are read of one episode; 20 with the original's settings."""
_ID = re.compile(rf"({'|'.join((*CATEGORIES, *FINANCE))})_([0-9]+)(?:_([0-9]+))?")


def _is_result_file(path: Path) -> bool:
    """Whether a file starts with a line like the original's, or a folder holds files with the original's name."""
    if path.is_dir():
        return bool(_result_files(path))
    if not path.is_file():
        return False
    try:
        first = next(read_lines(path), None)
    except DataError:
        # Some other format: its own reader says what is wrong with it.
        return False
    return first is not None and first.has("result") and _ID.fullmatch(str(first.value("id"))) is not None


def _result_files(folder: Path) -> list[Path]:
    return [file for file in files_under(folder) if fnmatchcase(file.name, "data_*_result.json")]


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The items of the files; the model is the path between the language's folder and the file.

    None if they are not the original's results.

    Raises:
        DataError: a line is not the original's, or no folder names the language.
    """
    return Results(_results(path)) if _is_result_file(path) else None


def _results(path: Path) -> Iterator[ResultRow]:
    for file in _result_files(path) if path.is_dir() else [path]:
        lang, model = _lang_and_model(file)
        items: dict[str, dict[str, Transcript]] = {}
        for line in read_lines(file):
            item, unit, transcript = _read(line, lang)
            units = items.setdefault(item, {})
            if unit in units:
                line.fail("id", "an id that occurs once", line.value("id"))
            units[unit] = transcript
        for item, units in items.items():
            yield ResultRow(str(file), model, item, units)


def episode_transcript(process: Sequence[Any], *, multi_turn: bool) -> Transcript:
    """An episode as far as the sandbox knows it: the agent's messages that it was sent, and then the end.

    That is exact, though a result file lacks what agent and user told each other: the state is a function of the
    messages that reach the sandbox and of their order, since it knows neither clock nor chance nor user; `process` holds
    just these messages; each is routed to the sandbox again, since routing looks at its text alone; and without the rest
    the budget of messages lasts longer, not shorter. The end mark of the first two messages after the opening does not
    count (Q54), and such a message can only be the agent's first, here as there; hence three marks at the end, of which
    the first that counts ends the episode.
    Under `fixed`, which reads some messages otherwise, the rebuilt dialogue is an approximation.
    """
    opening = [UNKNOWN_OPENING] if multi_turn else []
    first, *rest = (_reply(text) for text in (*opening, *process, *[END_MARK] * 3))
    needed = 2 * len(process) + 1
    if needed > MAX_MESSAGES:
        # The original was given another number of messages (`--max-dialog-turns`).
        first = Reply({**first.message, EPISODE_MESSAGES: needed})
    return Transcript((first, *rest))


def _read(line: JsonLine, lang: str) -> tuple[str, str, Transcript]:
    """Item, unit and transcript of a line."""
    match = _ID.fullmatch(line.read_text("id"))
    if not match:
        line.fail("id", f"an id like {CATEGORIES[0]}_0", line.value("id"))
    category, number, turn = match.groups()
    return f"{lang}/{category}_{int(number)}", str(int(turn or 0)), _transcript(line, category)


def _transcript(line: JsonLine, category: str) -> Transcript:
    if not is_agent(category):
        # What is no text stays as it is: the original gives it a verdict, too.
        return Transcript((_reply(line.value("result")),))
    process = line.read_list("process")
    if len(process) > MAX_PROCESS_MESSAGES:
        line.fail("process", f"at most {MAX_PROCESS_MESSAGES} messages", process)
    return episode_transcript(process, multi_turn=is_multi_turn_agent(category))


def _reply(content: Any) -> Reply:
    return Reply({"role": "assistant", "content": content})


def _lang_and_model(file: Path) -> tuple[str, str]:
    folders = as_named(file).parent.parts
    positions = [position for position, name in enumerate(folders) if name in LANGUAGE_FOLDERS]
    if not positions:
        raise DataError(
            f"{file}: which language is it? Result files do not say; put it into a folder {' or '.join(LANGUAGE_FOLDERS)}"
        )
    place = positions[-1]
    model = "/".join(folders[place + 1 :]) or folders[place - 1]
    return LANGUAGE_FOLDERS[folders[place]], model
