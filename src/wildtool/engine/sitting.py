"""What all runs of one command share: the gates of endpoints, the budget, the cache of replies."""

from wildtool.engine.budget import Budget
from wildtool.engine.cache import Cache
from wildtool.engine.limits import Gate
from wildtool.engine.rates import Rates
from wildtool.types import Model


def endpoint_of(model: Model) -> str | None:
    """The address that a model is asked at; None for one that is asked over no network."""
    url = model.settings().get("base_url")
    return url if isinstance(url, str) else None


class Sitting:
    """One start of the command."""

    def __init__(self, budget: Budget | None = None, cache: Cache | None = None) -> None:
        self.budget = budget or Budget()
        self.cache = cache
        self._gates: dict[object, Gate] = {}

    def gate(self, model: Model, width: int, rates: Rates) -> Gate:
        """The gate to a model: one for all at the same endpoint, by their lowest rates.

        Args: width: calls in flight at most.
        """
        endpoint = endpoint_of(model)
        # Only the network has rates; another model is on its own.
        key = id(model) if endpoint is None else endpoint
        gate = self._gates.get(key)
        if gate is None:
            learns = endpoint is not None
            gate = self._gates[key] = Gate(width, rates if learns else Rates(), learns=learns)
            self.budget.on_stop.append(gate.close)
        else:
            gate.widen(width, rates)
        return gate
