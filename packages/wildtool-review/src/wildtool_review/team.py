"""Who takes part in a review, and its rounds: people with their roles and tokens, samples dealt to pairs."""

from collections.abc import Sequence

from wildtool.errors import UsageError, unknown_name
from wildtool_review.journal import ReviewJournal
from wildtool_review.log import Draft
from wildtool_review.people import ROLES, Person, check_name, new_token, token_hash
from wildtool_review.rounds import assigned_pairs, draw_sample

_TOKEN_SETTING = "token "
_ROUND_TRIES = 50
"""Times that a round is drawn again because items of it were changed meanwhile, such as by rules in the background."""


class ReviewTeam(ReviewJournal):
    """A review with its people and rounds."""

    def open_round(
        self,
        person: str,
        people: Sequence[str],
        *,
        seed: str = "1",
        share: float = 0.2,
        reviewers: int | None = None,
    ) -> list[str]:
        """Draws a sample and assigns each of its items to a pair of people, or to one; returns the items.

        Args:
            people: who reviews in this round.
            share: of all items.
            reviewers: per item, 1 or 2; None for what the set says.

        Raises UsageError if nothing is left to draw, or somebody is not known.
        """
        self._check_role(person, "owner")
        names = list(dict.fromkeys(people))
        for name in names:
            if self.state.people and not self.state.may(name, "reviewer"):
                raise UsageError(
                    unknown_name("reviewer", name, [p.name for p in self.state.people.values() if p.active])
                )
        number, size = len(self.state.rounds) + 1, reviewers or self.state.reviewers
        for _ in range(_ROUND_TRIES):
            drafts = self._round(person, number, names, seed, share, size)
            conflict = self._attempt(drafts)
            if conflict is None:
                return [draft.item for draft in drafts[1:]]
            if not conflict.item:
                break  # somebody else has opened a round
        raise UsageError("somebody else changed the same at the same time; try again")

    def _round(
        self, person: str, number: int, names: Sequence[str], seed: str, share: float, reviewers: int
    ) -> list[Draft]:
        """What opens a round: its sample, then each of its items with its pair."""
        sample = draw_sample(self.state, share, f"{seed}/{number}")
        if not sample.items:
            raise UsageError("there is nothing to draw: every item is in a review that has not ended")
        last = self.state.rounds[-1].pairs if self.state.rounds else ()
        pairs = assigned_pairs(names, number, last, size=reviewers)
        opened = {
            "seed": seed,
            "share": share,
            "items": list(sample.items),
            "people": list(names),
            "pairs": [list(pair) for pair in pairs],
            "fresh": sample.fresh,
        }
        drafts = [Draft("round opened", person, after=opened, round=number)]
        for k, item in enumerate(sample.items):
            pair, summary = list(pairs[k % len(pairs)]), self.state.items[item]
            drafts.append(Draft("assign", person, item, version=summary.digest, after=pair, round=number))
        return drafts

    def close_round(self, person: str, number: int, note: str = "") -> None:
        """Ends a round. Raises UsageError if there is none of that number, or items of it are open."""
        self._check_role(person, "owner")
        current = next((each for each in self.state.rounds if each.number == number), None)
        if current is None or current.closed:
            raise UsageError("round {0} is not open", number)
        pending = [
            item
            for item in current.items
            if any(p.round == number and not p.ended for p in self.state.items[item].passes)
        ]
        if pending:
            raise UsageError(
                "round {0} has {1} items without a result, such as {2}", number, len(pending), pending[0]
            )
        self._append([Draft("round closed", person, round=number, note=note)])

    def add_person(self, person: str, name: str, role: str) -> str:
        """Adds a person, or changes their role; returns a new token, which replaces an older one."""
        self._check_role(person, "owner")
        name = check_name(name)
        if role not in ROLES:
            raise UsageError(unknown_name("role", role, ROLES))
        self._append([Draft("person", person, field=name, after={"role": role})])
        self._remove_token(name)
        token = new_token()
        self.store.set_setting(_TOKEN_SETTING + token_hash(token), name)
        return token

    def revoke_person(self, person: str, name: str) -> None:
        """Takes a person's token and role; what they did stays. Raises UsageError for an unknown name."""
        self._check_role(person, "owner")
        revoked = self.state.people.get(name)
        if revoked is None:
            raise UsageError(unknown_name("person", name, self.state.people))
        self._remove_token(name)
        self._append([Draft("person", person, field=name, after={"role": revoked.role, "active": False})])

    def person_of(self, token: str) -> Person | None:
        """The active person with this token."""
        return self.person_of_hash(token_hash(token))

    def person_of_hash(self, digest: str) -> Person | None:
        """The active person with the token of this hash."""
        person = self.state.people.get(self.store.setting(_TOKEN_SETTING + digest) or "")
        return person if person and person.active else None

    def _remove_token(self, name: str) -> None:
        for key, owner in self.store.settings(_TOKEN_SETTING).items():
            if owner == name:
                self.store.set_setting(key, None)

    def _check_role(self, person: str, role: str) -> None:
        if not self.state.may(person, role):
            own = self.state.role(person)
            if own:
                raise UsageError("this takes the role {0}; {1} is only {2}", role, person, own)
            raise UsageError("this takes the role {0}; {1} is not in this review", role, person)
