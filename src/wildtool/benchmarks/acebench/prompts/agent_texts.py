"""The shape of the texts that agent episodes are prompted with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """One language's wording."""

    multi_step: str
    """System prompt of an agent that works alone."""
    multi_turn: str
    """System prompt of an agent that talks with a user; the scenario's rules follow it."""
    phone_rules: str
    travel_rules: str
    finance_rules: str
    input: str
    """User message, with blanks `functions` and `transcript`."""
    phone_user: str
    """Rules of the simulated user in phone scenarios, with a blank `instruction`."""
    travel_user: str
    finance_user: str
    greeting: str
