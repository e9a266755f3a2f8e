"""What to do about what went wrong with a run: every remedy that lines below tables, live lines and refusals name.

Each is executed by a scene of `tests/e2e/test_advice.py`, which sees a number move or an error go away.
"""

import shlex
from enum import StrEnum
from pathlib import Path

from wildtool.sanitize import single_line

RUN = "RUN"
"""How a remedy names the run that it is about; the command line puts its folder there (`in_folder`)."""
SCORE_RUN, VIEW_RUN = f"wildtool score {RUN}", f"wildtool view {RUN}"
"""How commands begin that score the recorded replies again, and show them."""

LONGEST_PLACE = 4_000
"""Characters of a folder's name, more than any system takes."""


class Advice(StrEnum):
    """One thing to do, in words that fit behind a colon or a semicolon. Braces are filled by `format`."""

    SAME_COMMAND = "run the same command again"
    """Asks for what is missing: failed calls, and what a stopped run had not reached."""
    READ_AGAIN = f"`{SCORE_RUN} --tool-format {{format}}` reads them in the record"
    """Costs no call, so it comes before all that runs again."""
    RUN_IN_FORMAT = "run with --tool-format {format} and another --out to send another prompt"
    RUN_IN_AUTO_FORMAT = "run with --tool-format auto and another --out"
    READING_SERVER = "use a server that reads calls (`wildtool check` says if it does)"
    MORE_TOKENS = "run with a higher --max-tokens and another --out"
    LONGER_CONTEXT = "serve the model with a longer context"
    """Where calls were refused for their length; what is missing is then asked for by the same command."""
    LONGER_CONTEXT_RUN = "serve the model with a longer context and run with another --out"
    """Where replies were cut: they are recorded, so the same command would not ask for them again."""
    FEWER_TOKENS = "lower --max-tokens with another --out"
    VIEW = f"see them with `{VIEW_RUN}`"
    """Changes nothing, and shows the replies."""
    CHECK = "`wildtool check` quotes such replies of the endpoint"
    TEST = "`wildtool check` tests the endpoint"
    RIGHT_KEY = "check the key, and what it may be used for"
    RIGHT_NAME = "check the model's name and the base URL"
    RIGHT_ADDRESS = "check the base URL"
    WITHOUT_NATIVE_CALLS = (
        "the endpoint does not take this request, see its words; for a model without native tool calls add"
        " --tool-format auto"
    )
    SIMPLER_TOOLS = (
        "the server makes no grammar of these tools, for a pattern in them or their size, which `wildtool check` finds;"
        " to send none add --tool-format auto"
    )
    UNREAD_OUTPUT = (
        "the server cannot read a call that its model wrote; to read calls here add --tool-format auto"
    )
    SERVER_PARSER = (
        "the server takes no tools; start it with a parser for tool calls, or add --tool-format auto"
    )
    RESULTS_AS_TEXT = "run with --tool-format hermes and another --out, which writes results as text"
    """Where the endpoint takes no result of a tool. No brackets here and below: `lasting_refusal` has its own."""
    NO_THINKING = "serve the model without its thinking mode, or another one"
    """Where a thinking mode wants what no history of a benchmark has."""


NOT_AS_TOOLS = (Advice.SERVER_PARSER, Advice.SIMPLER_TOOLS, Advice.UNREAD_OUTPUT)
"""For requests that fail by the tools in them, and not by anything else."""
MORE_CONTEXT = f"{Advice.LONGER_CONTEXT}, or {Advice.FEWER_TOKENS}"
"""For calls that were refused for their length."""
RUN_AGAIN = "run again"
"""After a correction that changes the command."""
RUN_CORRECTED = f"do so, then {RUN_AGAIN}"
"""Where what must be corrected has just been said."""
REFUSED_FOR_GOOD = "the endpoint refuses these requests as they are, and would refuse them again"
"""In place of a remedy where the same command would be answered the same."""


def in_folder(text: str, folder: Path) -> str:
    """A text whose remedies name the run in a folder."""
    place = shlex.quote(single_line(str(folder), LONGEST_PLACE))
    return text.replace(SCORE_RUN, f"wildtool score {place}").replace(VIEW_RUN, f"wildtool view {place}")


def in_file(text: str, score_command: str) -> str:
    """A text whose remedies are for replies that are not kept as a run.

    Args: score_command: what scores them, without `--tool-format`.
    """
    return text.replace(SCORE_RUN, score_command).replace(
        f"`{VIEW_RUN}`", "`wildtool view`, once they are kept (--out)"
    )
