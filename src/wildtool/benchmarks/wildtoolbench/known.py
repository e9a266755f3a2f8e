"""What follows from a session alone, worked out once however often the session is played, judged and shown."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from wildtool.benchmarks.wildtoolbench.data import Session

P = ParamSpec("P")
T = TypeVar("T")


def of_session(
    work: Callable[Concatenate[Session, P], T],
) -> Callable[Concatenate[Session, P], T]:
    """Keeps what a function of a session, and of positions in it, gives; for as long as the session lives.

    What it gives is shared by all who ask, so nobody may change it.
    """
    known: WeakKeyDictionary[Session, dict[object, T]] = WeakKeyDictionary()

    @wraps(work)
    def asked(session: Session, *args: P.args, **named: P.kwargs) -> T:
        assert not named
        its = known.get(session)
        if its is None:
            its = known[session] = {}
        if args not in its:
            its[args] = work(session, *args, **named)
        return its[args]

    return asked
