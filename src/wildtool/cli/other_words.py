"""What people type out of habit: words of other programs for our verbs and options."""

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

_ADDRESS = ("--url", "--endpoint", "--api-base", "--api-url", "--host", "--server-url", "--api-base-url")
_KEY = ("--api-key", "--key", "--token", "--auth-token")
_FEWER = (
    "--num-samples",
    "--max-samples",
    "--num-examples",
    "--max-items",
    "--count",
    "--num",
    "--subset-size",
)
_AGAIN = ("--repeat", "--epochs", "--trials", "--num-trials", "--num-runs", "--runs", "--samples-per-item")
_AT_ONCE = (
    "--workers",
    "--parallel",
    "--threads",
    "--num-threads",
    "--num-workers",
    "--max-workers",
    "--max-concurrency",
    "--max-connections",
    "--batch-size",
)
_WHERE_TO = (
    "--output",
    "--output-dir",
    "--output-path",
    "--out-dir",
    "--save-dir",
    "--log-dir",
    "--results-dir",
)
_TOKENS = ("--max-new-tokens", "--max-completion-tokens", "--max-output-tokens", "--max-gen-toks")
_FIELDS = (
    "--top-p",
    "--top-k",
    "--min-p",
    "--stop",
    "--extra",
    "--gen-kwargs",
    "--model-args",
    "--reasoning-effort",
)
_ITEMS = ("--id", "--task", "--tasks", "--task-id", "--cases", "--filter")

OTHER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_ADDRESS, ("--base-url",)),
    **dict.fromkeys(_KEY, ("--api-key-env", "--api-key-file")),
    **dict.fromkeys(("--models", "--model-name", "--llm"), ("--model",)),
    **dict.fromkeys(_FEWER, ("--limit", "--sample")),
    **dict.fromkeys(_AGAIN, ("--repeats",)),
    **dict.fromkeys(_AT_ONCE, ("--concurrency",)),
    **dict.fromkeys(_WHERE_TO, ("--out",)),
    **dict.fromkeys(_TOKENS, ("--max-tokens",)),
    **dict.fromkeys(_FIELDS, ("--extra-body",)),
    **dict.fromkeys(_ITEMS, ("--ids", "--data")),
    **dict.fromkeys(("--dataset", "--file", "--input", "--subset", "--category"), ("--data", "--split")),
    **dict.fromkeys(("--format", "--output-format"), ("--json", "--csv", "--to")),
    **dict.fromkeys(("--max-retries", "--num-retries", "--retry"), ("--retries",)),
    **dict.fromkeys(("--budget", "--max-budget", "--cost-limit"), ("--max-cost",)),
    **dict.fromkeys(("--temp", "-t"), ("--temperature",)),
    **dict.fromkeys(("--random-seed", "--seeds"), ("--seed",)),
    **dict.fromkeys(("--headers", "--extra-headers"), ("--header",)),
    **dict.fromkeys(("--judge-model", "--grader", "--grader-model"), ("--judge",)),
    **dict.fromkeys(("--user-simulator", "--user-llm", "--user"), ("--user-model",)),
    **dict.fromkeys(("--rules", "--scorer", "--metric", "--metrics"), ("--profile",)),
    **dict.fromkeys(("--config-file", "-c"), ("--config",)),
    **dict.fromkeys(("--overwrite",), ("--force",)),
    **dict.fromkeys(("--language", "--locale"), ("--lang",)),
    **dict.fromkeys(("--baseline", "--base"), ("--against",)),
}
"""Words for options. A command names those that it has; where it has none, what other commands have is named."""

_CONTINUES = "Without an option, the same command continues a run that stopped."
_FIRST_WORD = "What to run comes first, without an option: `wildtool run NAME`."

NOTES: Mapping[str, str] = {
    **dict.fromkeys(("--resume", "--continue", "--restart", "--resume-from"), _CONTINUES),
    **dict.fromkeys(("--benchmark", "--bench", "--benchmarks", "--suite"), _FIRST_WORD),
    "--provider": "A provider is part of the model's name: --model anthropic/NAME.",
}
"""What is said of a word for which `wildtool run` needs no option."""
