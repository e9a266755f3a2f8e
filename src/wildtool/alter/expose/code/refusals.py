"""Which errors of the sandbox are its own: what Python runs and it does not."""

import builtins
import re
import sys
from types import ModuleType

_TYPES: dict[str, type] = {
    each.__name__: each for each in (str, int, float, dict, list, tuple, set, bytes, bool)
}
_PATTERNS = (
    re.compile(r"NotImplementedError: .*"),
    re.compile(r".* is not supported in this environment"),
    re.compile(r"PermissionError: .*"),
    re.compile(r"AttributeError: .* object has no attribute '__\w+__'"),
)
_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NAME = re.compile(r"NameError: name '(\w+)' is not defined(?:\. Did you .*)?")
_IN_MODULE = re.compile(
    r"AttributeError: module '(\w+)' has no attribute '(\w+)'|ImportError: cannot import name '(\w+)' from '(\w+)'.*"
)
_OF_TYPE = re.compile(r"AttributeError: '(\w+)' object has no attribute '(\w+)'")
NOT_IN_SANDBOX = (
    "class inheritance, yield, del, asyncio.TaskGroup, open, input, dir, help, these functions passed to map; modules "
    "other than asyncio base64 collections copy dataclasses datetime decimal functools hashlib itertools json math "
    "random re time typing"
)
"""What a model should know beforehand."""


def is_sandbox_refusal(error: str) -> bool:
    """Whether Python would have run what the sandbox did not. Args: error: `Type: message`."""
    error = error.strip()
    if any(pattern.fullmatch(error) for pattern in _PATTERNS):
        return True
    if match := _MODULE.fullmatch(error):
        return match[1].partition(".")[0] in sys.stdlib_module_names
    if match := _NAME.fullmatch(error):
        return hasattr(builtins, match[1])
    if match := _IN_MODULE.fullmatch(error):
        module = sys.modules.get(match[1] or match[4])
        return isinstance(module, ModuleType) and hasattr(module, match[2] or match[3])
    if match := _OF_TYPE.fullmatch(error):
        return hasattr(_TYPES.get(match[1]), match[2])
    return False
