"""Forgets what the product keeps for later calls of its process, so that a test begins as in a new one."""

import sys


def forget_kept(package: str) -> None:
    """Clears what the functions of a package's loaded modules keep (`functools.cache`, `lru_cache`)."""
    for name, module in list(sys.modules.items()):
        if f"{name}.".startswith(f"{package}."):
            for member in vars(module).values():
                clear = getattr(member, "cache_clear", None)
                if clear is not None:
                    clear()
