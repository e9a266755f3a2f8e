"""Estimates calls and tokens of a procedure over training files, from the files themselves; nothing is sent."""

from collections import Counter
from typing import Any

from wildtool.engine.call.budget import estimate_tokens, tokens_of
from wildtool.engine.run.estimate import RoleEstimate, Usage
from wildtool.generate.training.maker import TrainingMaker
from wildtool.types import Item, Reply

TRAINING_BASIS = "this file, with replies as long as its own"


def estimate_training(maker: TrainingMaker[Any]) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role: with replies after which least is asked, and after which most is."""
    least, most = (_usage(maker, most=most) for most in (False, True))
    return {
        role: RoleEstimate(least.get(role, Usage()), most.get(role, Usage()))
        for role in dict.fromkeys([*least, *most])
    }


def _usage(maker: TrainingMaker[Any], *, most: bool) -> dict[str, Usage]:
    totals: dict[str, Usage] = {}
    for item in maker.planned():
        _add_item(maker, item, totals, most=most)
    return totals


def _add_item(maker: TrainingMaker[Any], item: Item, totals: dict[str, Usage], *, most: bool) -> None:
    asked = Counter[str]()
    script = maker.script(item)
    try:
        request = next(script)
        while True:
            message = maker.assumed_reply(item, request, most=most)
            asked[request.role] += 1
            totals[request.role] = totals.get(request.role, Usage()).add_call(
                estimate_tokens(request), tokens_of(message), asked[request.role]
            )
            request = script.send(Reply(message))
    except StopIteration:
        return
