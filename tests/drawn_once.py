"""Charts, each drawn once for all tests: nothing but its specification makes a chart, and drawing takes long."""

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vl_convert


def draw_once(folder: Path) -> None:
    """Lets this process draw only what no process has drawn into that folder."""
    for name in ("vegalite_to_svg", "svg_to_png"):
        setattr(vl_convert, name, _once(getattr(vl_convert, name), folder))


def _once(draw: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    def drawn(source: Any, **options: Any) -> Any:
        made_of = repr((draw.__name__, source, options)).encode()
        path = folder / hashlib.sha256(made_of).hexdigest()
        if path.exists():
            return pickle.loads(path.read_bytes())
        result = draw(source, **options)
        whole = path.with_suffix(f".{os.getpid()}")
        whole.write_bytes(pickle.dumps(result))
        whole.replace(path)
        return result

    return drawn
