"""What people type out of habit: words of other programs for our verbs, and for options that no command needs."""

from collections.abc import Mapping

OTHER_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("eval", "evaluate", "test", "bench", "benchmark", "play"), "run"),
    **dict.fromkeys(("judge", "grade", "rescore"), "score"),
    **dict.fromkeys(("results", "result", "summary", "table"), "show"),
    **dict.fromkeys(("diff", "scaling"), "compare"),
    **dict.fromkeys(("leaderboard", "rank", "publish", "build"), "board"),
    **dict.fromkeys(("serve", "ui", "dashboard", "browse", "open"), "view"),
    **dict.fromkeys(("probe", "doctor", "diagnose"), "check"),
    **dict.fromkeys(("init", "create", "scaffold"), "new"),
    **dict.fromkeys(("convert", "download"), "data"),
    **dict.fromkeys(("benchmarks", "models", "profiles", "modes", "formats", "cards", "ls"), "list"),
    **dict.fromkeys(("make", "synthesize"), "generate"),
    **dict.fromkeys(("annotate", "label"), "review"),
    **dict.fromkeys(("validate", "selftest"), "audit"),
    **dict.fromkeys(("cluster", "slurm", "kubernetes", "join"), "worker"),
}
"""Words for verbs."""

_CONTINUES = "What stopped is continued by the same command, without an option."
_FIRST_WORD = "What to run comes first, without an option: `wildtool run NAME`."

NOTES: Mapping[str, str] = dict.fromkeys(("--resume", "--continue", "--restart", "--resume-from"), _CONTINUES)
"""What is said of a word for which no command needs an option."""
NOTES_OF_RUN: Mapping[str, str] = {
    **dict.fromkeys(("--benchmark", "--bench", "--benchmarks", "--suite"), _FIRST_WORD),
    "--provider": "A provider is part of the model's name: --model anthropic/NAME.",
}
"""And of one for which `wildtool run` needs none."""
