"""What to tell of several errors that came at once."""

from collections.abc import Iterator
from typing import cast

from wildtool.errors import WildtoolError


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast(BaseExceptionGroup[BaseException], error))
        else:
            yield error


def cause_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one exception to tell the user: one they can act on before any other."""
    leaves = list(_leaves(errors))
    return next((error for error in leaves if isinstance(error, WildtoolError)), leaves[0])
