"""TRL: held-out evaluations while a trainer runs."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUntypedBaseClass=false

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from wildtool.api.bench import Bench
from wildtool.models.prompted import parse_message
from wildtool.types import Message, Request, Tool
from wildtool_train.bridges.tokens import call_format, rendered
from wildtool_train.evaluation import Evaluation, Evaluator, evaluate

_GATHER_S = 0.01
"""How long requests wait for others to be answered with them."""


class ModelPolicy:
    """A model of transformers as a policy that writes its likeliest tokens; requests of the same time are one batch."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        max_new_tokens: int,
        tool_format: str | None = None,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        """Args: as of `UnitRollouts`; max_new_tokens: of one message."""
        self._model, self._tokenizer, self._template = model, tokenizer, template
        self._max_new_tokens = max_new_tokens
        self._format = call_format(tokenizer, tool_format)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[tuple[str, asyncio.Future[list[int]]]] = []

    async def __call__(self, messages: list[Message], tools: list[Tool]) -> dict[str, Any]:
        """The reply as a chat completion."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # An evaluation that was given up leaves requests that nobody answers any more.
            self._loop, self._waiting = loop, []
        future: asyncio.Future[list[int]] = loop.create_future()
        prompt = rendered(self._tokenizer, messages, tools, ask=True, template=self._template)
        self._waiting.append((prompt, future))
        if len(self._waiting) == 1:
            loop.call_later(_GATHER_S, self._answer)
        ids = await future
        ends = ids[-1:] == [self._tokenizer.eos_token_id]
        text = self._tokenizer.decode(
            ids[:-1] if ends else ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        reply, _ = parse_message(
            {"role": "assistant", "content": text}, self._format, Request(messages, tools)
        )
        return {
            "choices": [{"message": reply, "finish_reason": "stop" if ends else "length"}],
            "usage": {"completion_tokens": len(ids)},
        }

    def _answer(self) -> None:
        waiting, self._waiting = [each for each in self._waiting if not each[1].done()], []
        if not waiting:
            return
        try:
            replies = self._generate([prompt for prompt, _ in waiting])
        except Exception as error:  # noqa: BLE001 - it belongs to the requests, not to the loop
            for _, future in waiting:
                future.set_exception(error)
            return
        for (_, future), ids in zip(waiting, replies, strict=True):
            future.set_result(ids)

    def _generate(self, prompts: Sequence[str]) -> list[list[int]]:
        tokenizer, was_training = self._tokenizer, self._model.training
        side, tokenizer.padding_side = tokenizer.padding_side, "left"
        self._model.eval()
        try:
            batch = tokenizer(list(prompts), add_special_tokens=False, padding=True, return_tensors="pt")
            output = self._model.generate(
                **batch.to(self._model.device),
                do_sample=False,
                max_new_tokens=self._max_new_tokens,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
            )
        finally:
            tokenizer.padding_side = side
            self._model.train(was_training)
        end = tokenizer.eos_token_id
        rows: list[list[int]] = output[:, batch["input_ids"].shape[1] :].tolist()
        return [row[: row.index(end) + 1] if end in row else row for row in rows]


class HeldOutEvaluation(TrainerCallback):
    """Evaluates the model that a trainer trains: before the first step, every so many steps, and after the last one."""

    def __init__(
        self,
        bench: Bench | str | Path,
        *,
        max_new_tokens: int,
        tool_format: str | None = None,
        template: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Args: as of `ModelPolicy` and `evaluate`, which needs `every` and `out`."""
        policy = {"max_new_tokens": max_new_tokens, "tool_format": tool_format, "template": template}
        self._policy = partial(ModelPolicy, **policy)
        self._begin = partial(evaluate, bench=bench, **options)
        self.evaluator: Evaluator | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        self.evaluator = self._begin(self._policy(objects["model"], objects["processing_class"]))
        if state.is_world_process_zero:
            self.evaluator.begin(state.global_step)
        self._evaluate(state)

    def on_step_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        self._evaluate(state)

    def on_train_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        self._evaluate(state, always=True)

    def _evaluate(self, state: Any, *, always: bool = False) -> None:
        """The trainer's log gets the figures; one process evaluates, the others go on."""
        if self.evaluator is None or not state.is_world_process_zero:
            return
        evaluation: Evaluation | None = self.evaluator.evaluations.get(state.global_step)
        if evaluation is not None and evaluation.complete:
            return
        evaluation = self.evaluator(state.global_step, always=always)
        if evaluation is not None:
            figures = {f"held_out/{name}": value for name, value in evaluation.components.items()}
            accuracy = {"held_out/accuracy": evaluation.accuracy, "held_out/failed": evaluation.failed}
            state.log_history.append({"step": state.global_step, **accuracy, **figures})
