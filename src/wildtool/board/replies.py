"""Compares the recorded replies of a submission with their raw answers and with the requests that the benchmark makes."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from wildtool.board.wording import counted_are, id_list
from wildtool.engine.plan import check_profile
from wildtool.engine.record.format import request_hashes
from wildtool.engine.record.reader import ItemLog, LoggedReply, LogReader
from wildtool.engine.score.score import JudgingJob
from wildtool.errors import InfraError
from wildtool.json_codec import as_object, dumps
from wildtool.models.reread import read_raw, served_model
from wildtool.types import HARNESS, Item, Reply, Request

_JUDGED_KEYS = ("content", "tool_calls", "refusal")
"""Keys of a message that judges read."""


@dataclass(slots=True)
class ReplyCheck:
    """What came of comparing all replies of a record; places are ITEM/UNIT step NUMBER."""

    replies: int = 0
    without_raw: int = 0
    unknown_protocol: int = 0
    """Replies whose raw answer no protocol reads."""
    altered: list[str] = field(default_factory=list[str])
    """Replies marked as changed on the way, or as those of an agent, that are not as their raw answers say: an agent has
    other names of tools than the benchmark, and may end a turn by a text of its own."""
    contradicted: list[str] = field(default_factory=list[str])
    """Replies without such a mark that are not as their raw answers say."""
    other_request: list[str] = field(default_factory=list[str])
    """Replies recorded for another request than the benchmark makes."""
    unasked: list[str] = field(default_factory=list[str])
    """Replies that no request of the benchmark leads to."""
    raw_digests: Counter[str] = field(default_factory=Counter[str])
    """Of the raw answers of the model under test."""
    served: Counter[str] = field(default_factory=Counter[str])
    """Models that these say they are of."""

    @property
    def problems(self) -> list[str]:
        """Why the submission is refused."""
        if not self.contradicted:
            return []
        count = counted_are(len(self.contradicted), "reply", "replies")
        return [f"{count} not as the raw answer says: {id_list(self.contradicted)}"]

    @property
    def doubts(self) -> list[str]:
        """Why its replies are its submitter's word; empty if every one has its raw answer and its request."""
        if not self.replies:
            return ["it holds no reply"]
        places = {
            "changed on the way, and not as the raw answer says": self.altered,
            "recorded for another request than this benchmark makes": self.other_request,
            "recorded where this benchmark asks nothing": self.unasked,
        }
        plain = {
            "without a raw answer": self.without_raw,
            "in a protocol that cannot be read again": self.unknown_protocol,
        }
        return [
            *(
                f"{number:,} of {self.replies:,} replies are {what}"
                for what, number in plain.items()
                if number
            ),
            *(
                f"{counted_are(len(its), 'reply', 'replies')} {what}: {id_list(its)}"
                for what, its in places.items()
                if its
            ),
        ]

    def compare(self, place: str, came: LoggedReply, request: Request, format_name: str) -> None:
        """Notes what a reply is, beside its raw answer and the request that the benchmark makes.

        Args: place: its name in messages; format_name: as of `read_raw`.
        """
        self.replies += 1
        if (came.role, came.request) != (request.role, request_hashes(request)[-1]):
            self.other_request.append(place)
        if not came.reply.raw:
            self.without_raw += 1
            return
        if came.role == "agent":
            self.raw_digests[sha256(came.reply.raw.encode("utf-8", "replace")).hexdigest()] += 1
            self.served[served_model(came.reply.raw)] += 1
        readings = list(map(_meaning, read_raw(came.reply, request, format_name)))
        if not readings:
            self.unknown_protocol += 1
        elif _meaning(came.reply) not in readings:
            is_marked = bool(came.reply.changes) or HARNESS in came.reply.message
            (self.altered if is_marked else self.contradicted).append(place)


def check_replies(folder: Path, job: JudgingJob) -> ReplyCheck:
    """Replays every item with its recorded replies, and compares each with its raw answer and its request.

    Raises RecordError where the record is damaged, UsageError for a run under a profile that there is not.
    """
    check, profile = ReplyCheck(), job.run_json["identity"]["profile"]
    if profile is not None:
        check_profile(job.variant.benchmark, profile)
    with LogReader(folder, check_all=True) as reader:
        selected = {(item.id, repeat): item for item, repeat in job.selection.jobs()}
        for id_, repeat in reader.jobs():
            log = reader.log(id_, repeat)
            item = selected.get((id_, repeat))
            places = set[tuple[str, int]]() if item is None else _replay(check, job, item, log)
            for unit, steps in log.items():
                for number, came in steps.items():
                    if isinstance(came, LoggedReply) and (unit, number) not in places:
                        check.replies += 1
                        check.unasked.append(f"{id_}/{unit} step {number}")
    return check


def _replay(check: ReplyCheck, job: JudgingJob, item: Item, log: ItemLog) -> set[tuple[str, int]]:
    """Compares the replies of an item; unit and step of each that the benchmark asks for."""
    identity = job.run_json["identity"]
    agent = as_object(as_object(identity["models"]["agent"]).get("settings"))
    format_name = str(agent.get("format") or "")
    counts, places = Counter[str](), set[tuple[str, int]]()

    async def ask(unit: str, request: Request) -> Reply:
        number = counts[unit]
        counts[unit] += 1
        came = log.get(unit, {}).get(number)
        if not isinstance(came, LoggedReply):
            raise InfraError("end", "the record ends here")
        places.add((unit, number))
        check.compare(f"{item.id}/{unit} step {number}", came, request, format_name)
        return came.reply

    async def play() -> None:
        try:
            await job.variant.play(item, ask, identity["profile"] or job.run_info.profile, in_order=True)
        except* InfraError:
            # The record ends in the middle of the item, which is said of its units.
            pass

    asyncio.run(play())
    return places


def _meaning(reply: Reply) -> tuple[object, ...]:
    """What of a reply is judged or counted: its text and calls, how it ended, and its tokens."""
    judged = [reply.message.get(key) for key in _JUDGED_KEYS]
    tokens = [reply.usage.get(kind) for kind in ("prompt_tokens", "completion_tokens")]
    return dumps(judged), reply.finish_reason, *tokens
