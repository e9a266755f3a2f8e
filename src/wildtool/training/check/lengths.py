"""Counts the tokens of texts with a model's own tokenizer."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from wildtool.errors import DataError, UsageError

TOKENIZER_FILE = "tokenizer.json"


def token_counter(path: Path) -> Callable[[str], int]:
    """A function that counts tokens with the tokenizer of a model.

    Args:
        path: a `tokenizer.json`, or a model's folder with one.

    Raises:
        UsageError: the library `tokenizers` is not installed.
        DataError: the file cannot be read as a tokenizer.
    """
    file = path / TOKENIZER_FILE if path.is_dir() else path
    try:
        library: Any = import_module("tokenizers")
    except ModuleNotFoundError as error:
        raise UsageError("--tokenizer needs the package tokenizers: pip install tokenizers") from error
    if not file.is_file():
        raise DataError(f"{file}: no such file; --tokenizer takes a {TOKENIZER_FILE} or a model's folder")
    try:
        tokenizer: Any = library.Tokenizer.from_file(str(file))
    except Exception as error:
        raise DataError(f"{file}: cannot be read as a tokenizer ({error})") from error
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
