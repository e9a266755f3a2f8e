"""What other programs call our settings, for messages about unknown names of options, keys and keywords."""

from collections.abc import Iterable, Mapping

_ADDRESS = ("url", "endpoint", "api_base", "api_url", "host", "server_url", "api_base_url")
_KEY = ("api_key", "key", "token", "auth_token")
_FEWER = ("num_samples", "max_samples", "num_examples", "max_items", "count", "num", "subset_size")
_AGAIN = ("repeat", "epochs", "trials", "num_trials", "num_runs", "runs", "samples_per_item")
_WORKERS = ("workers", "num_workers", "max_workers")
_AT_ONCE = ("parallel", "threads", "num_threads", "max_concurrency", "max_connections", "batch_size")
_WHERE_TO = ("output", "output_dir", "output_path", "out_dir", "save_dir", "log_dir", "results_dir")
_TOKENS = ("max_new_tokens", "max_completion_tokens", "max_output_tokens", "max_gen_toks")
_FIELDS = ("top_p", "top_k", "min_p", "stop", "extra", "gen_kwargs", "model_args", "reasoning_effort")
_ITEMS = ("id", "task", "tasks", "task_id", "cases", "filter")

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_ADDRESS, ("base_url",)),
    **dict.fromkeys(_KEY, ("api_key_env", "api_key_file")),
    **dict.fromkeys(("models", "model_name", "llm"), ("model",)),
    **dict.fromkeys(_FEWER, ("limit", "sample")),
    **dict.fromkeys(_AGAIN, ("repeats",)),
    **dict.fromkeys(_WORKERS, ("concurrency", "on")),
    **dict.fromkeys(_AT_ONCE, ("concurrency",)),
    **dict.fromkeys(_WHERE_TO, ("out",)),
    **dict.fromkeys(_TOKENS, ("max_tokens",)),
    **dict.fromkeys(_FIELDS, ("extra_body",)),
    **dict.fromkeys(_ITEMS, ("ids", "data")),
    **dict.fromkeys(("dataset", "file", "input", "subset", "category"), ("data", "split")),
    **dict.fromkeys(("format", "output_format"), ("json", "csv", "to")),
    **dict.fromkeys(("max_retries", "num_retries", "retry"), ("retries",)),
    **dict.fromkeys(("budget", "max_budget", "cost_limit"), ("max_cost",)),
    **dict.fromkeys(("temp", "t"), ("temperature",)),
    **dict.fromkeys(("random_seed", "seeds"), ("seed",)),
    **dict.fromkeys(("headers", "extra_headers"), ("header",)),
    **dict.fromkeys(("judge_model", "grader", "grader_model"), ("judge",)),
    **dict.fromkeys(("user_simulator", "user_llm", "user"), ("user_model",)),
    **dict.fromkeys(("rules", "scorer", "metric", "metrics"), ("profile",)),
    **dict.fromkeys(("config_file", "c"), ("config",)),
    "overwrite": ("force",),
    **dict.fromkeys(("language", "locale"), ("lang",)),
    **dict.fromkeys(("baseline", "base"), ("against",)),
}
"""Settings of ours by the names of other programs. A door names those that it has."""


def settings_meant(name: str) -> tuple[str, ...]:
    """The name as we spell it, and the settings that other programs mean by it.

    Args:
        name: of an option, with its dashes, or of a key or keyword.
    """
    own = name.lstrip("-").replace("-", "_")
    return own, *OTHER_NAMES.get(own, ())


def known_settings_meant(name: str, settings: Iterable[str]) -> list[str]:
    """The settings that are meant, as far as a door has them. Args: settings: the names of all that it has."""
    names = set(settings)
    return [setting for setting in settings_meant(name) if setting in names]
