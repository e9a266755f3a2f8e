"""Local weights through transformers, with the model's own chat template: `hf/PATH`, extra `[hf]`.

Several replies are generated at once, in one thread beside the event loop.
"""

import asyncio
import copy
import hashlib
import os
import secrets
import time
from array import array
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, cast

from wildtool.errors import CallError, UsageError
from wildtool.models.extras import import_for
from wildtool.models.local.chat_template import ChatTemplate, PlainText, weights_place
from wildtool.models.local.prefixes import Prefixes
from wildtool.models.openai_messages import Changes
from wildtool.models.prompted import PromptedModel, has_calls, message_as_text, parse_message
from wildtool.models.settings import Sampling
from wildtool.tool_formats import CALL_FORMATS, CallFormat
from wildtool.tool_formats.detect import (
    AUTO,
    BY_OPTION,
    BY_TEMPLATE,
    format_of_template,
    known_format,
    resolve_format,
)
from wildtool.types import REPAIR_CHANGE, Model, Reply, Request

BATCH_WAIT_S = 0.02
"""Seconds that a batch waits for more requests: callers whose replies came together call again together."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Which weights, and where they run."""

    path: str
    device: str
    """`auto` spreads them over all devices."""
    dtype: str
    """`auto`: as they are stored."""
    end_tokens: frozenset[int]
    """Tokens that end a reply, besides those of the model's own settings."""
    pad_token: int


@dataclass(frozen=True, slots=True)
class Completion:
    """The tokens of one reply."""

    tokens: list[int]
    """Without the token that ended it."""
    ended: bool
    """Whether the model ended it; False if it reached a limit."""


@dataclass(frozen=True, slots=True, eq=False)
class _PendingPrompt:
    prompt: list[int]
    seed: int
    answer: "asyncio.Future[Completion]"


class Generator:
    """Answers prompts in batches. A reply does not depend on the batch, except for rounding."""

    def __init__(
        self,
        weights: Weights,
        *,
        max_tokens: int,
        temperature: float | None,
        batch_size: int,
        prefix_bytes: int,
    ) -> None:
        """Loads nothing yet.

        Args:
            temperature: None or 0: always the likeliest token.
            prefix_bytes: memory for what was computed of earlier prompts; 0 for none.
        """
        self._prefix_bytes = prefix_bytes
        self._weights = weights
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._batch_size = batch_size
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="weights")
        self._waiting: list[_PendingPrompt] = []
        self._batch: list[_PendingPrompt] = []
        self._server_task: asyncio.Task[None] | None = None
        self._loaded: Any = None
        self._prefixes: Prefixes
        """There once the weights are."""

    async def reply(self, prompt: list[int], seed: int) -> Completion:
        """The reply to a prompt. Raises CallError if there can be none.

        A cancelled caller leaves its batch at the next token.
        """
        waiting = _PendingPrompt(prompt, seed, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._server_task is None or self._server_task.done():
            self._server_task = asyncio.create_task(self._serve())
        return await waiting.answer

    async def close(self) -> None:
        """Cancels all requests and waits until the thread has ended."""
        for waiting in (*self._waiting, *self._batch):
            waiting.answer.cancel()
        await asyncio.to_thread(self._thread.shutdown)

    async def _serve(self) -> None:
        while self._waiting:
            await asyncio.sleep(BATCH_WAIT_S)
            pending = [prompt for prompt in self._waiting if not prompt.answer.done()]
            self._batch, self._waiting = pending[: self._batch_size], pending[self._batch_size :]
            if not self._batch:
                return
            job = asyncio.get_running_loop().run_in_executor(self._thread, self._answers, self._batch)
            await asyncio.wait([job])
            for number, waiting in enumerate(self._batch):
                if waiting.answer.done():
                    continue
                if error := job.exception():
                    waiting.answer.set_exception(error)
                else:
                    outcome = job.result()[number]
                    if isinstance(outcome, CallError):
                        waiting.answer.set_exception(outcome)
                    else:
                        waiting.answer.set_result(outcome)
            self._batch = []

    def _answers(self, batch: Sequence[_PendingPrompt]) -> list[Completion | CallError]:
        """One reply or error for each; runs on the thread."""
        if self._loaded is None:
            self._loaded = self._load()
            self._prefixes = Prefixes(self._loaded, self._prefix_bytes)
        longest = getattr(self._loaded.config.get_text_config(), "max_position_embeddings", None) or 2**31
        fits = [each for each in batch if len(each.prompt) < longest]
        rooms = [min(self._max_tokens, longest - len(each.prompt)) for each in fits]
        try:
            completions = iter(self._write(fits, rooms)) if fits else iter(())
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            message = f"the weights could not answer {len(fits)} requests at once: {reason}"
            raise CallError("generation failed", message) from error
        return [next(completions) if each in fits else _too_long(each, longest) for each in batch]

    def _load(self) -> Any:
        library: Any = import_module("transformers")
        quiet: Any = import_module("transformers.utils.logging")
        # Its progress bars and warnings would mix with wildtool's.
        quiet.disable_progress_bar()
        quiet.set_verbosity_error()
        weights = self._weights
        spread = {"device_map": "auto"} if weights.device == "auto" else {}
        try:
            place, options = weights_place(weights.path)
            model: Any = library.AutoModelForCausalLM.from_pretrained(
                place, dtype=weights.dtype, **options, **spread
            )
            return model.eval() if spread else model.to(weights.device).eval()
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            message = f"the weights of {weights.path!r} cannot be loaded: {reason}"
            raise CallError("unloadable model", message, final=True) from error

    def _write(self, batch: Sequence[_PendingPrompt], rooms: Sequence[int]) -> list[Completion]:
        torch: Any = import_module("torch")
        width = max(len(each.prompt) for each in batch)
        pads = [width - len(each.prompt) for each in batch]
        padding = self._weights.pad_token
        rows = [[padding] * pad + each.prompt for pad, each in zip(pads, batch, strict=True)]
        mask = [[0] * pad + [1] * (width - pad) for pad in pads]
        own = self._loaded.generation_config
        eos: Any = own.eos_token_id
        ends = {*(cast(list[int], eos) if isinstance(eos, list) else [eos]), *self._weights.end_tokens} - {
            None
        }
        config = copy.deepcopy(own)
        config.update(
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            max_length=None,
            max_new_tokens=max(rooms),
            eos_token_id=sorted(ends) or None,
            pad_token_id=padding,
        )
        device = self._loaded.device
        shared: dict[str, Any] = {}
        if self._prefixes.fit and all(len(each.prompt) > 1 for each in batch):
            shared["past_key_values"] = self._prefixes.batch_cache([each.prompt for each in batch])
        output: Any = self._loaded.generate(
            input_ids=torch.tensor(rows, device=device),
            attention_mask=torch.tensor(mask, device=device),
            **shared,
            generation_config=config,
            logits_processor=[_GumbelSampler(torch, self._temperature, [each.seed for each in batch])]
            if self._temperature
            else [],
            stopping_criteria=[_RowStopping(torch, batch, rooms, width)],
        )
        replies: list[list[int]] = output[:, width:].tolist()
        return [_cut_at_end(reply[:room], ends) for reply, room in zip(replies, rooms, strict=True)]


class _GumbelSampler:
    """Samples by temperature, with a random generator per row, so that a row does not depend on the others.

    The likeliest token after adding Gumbel noise is a draw from the distribution (Gumbel 1954), so that the library's
    greedy search samples.
    """

    def __init__(self, torch: Any, temperature: float, seeds: Sequence[int]) -> None:
        self._torch = torch
        self._temperature = temperature
        # On the CPU, whose numbers are the same on every machine.
        self._sources = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        torch = self._torch
        size, kind = scores.shape[-1], torch.float64
        drawn = torch.stack([torch.rand(size, generator=source, dtype=kind) for source in self._sources])
        noise = -torch.log(-torch.log(drawn.clamp(min=1e-300)))
        return scores.float() / self._temperature + noise.float().to(scores.device)


class _RowStopping:
    """Ends rows that reached their limit, and those of cancelled callers."""

    def __init__(self, torch: Any, batch: Sequence[_PendingPrompt], rooms: Sequence[int], width: int) -> None:
        self._torch, self._batch, self._rooms, self._width = torch, batch, rooms, width

    def __call__(self, input_ids: Any, scores: Any, **other: Any) -> Any:
        length = input_ids.shape[1] - self._width
        full = [
            length >= room or prompt.answer.cancelled()
            for prompt, room in zip(self._batch, self._rooms, strict=True)
        ]
        return self._torch.tensor(full, device=input_ids.device)


def _cut_at_end(row: list[int], ends: set[int]) -> Completion:
    """A row up to its end token."""
    end = next((place for place, token in enumerate(row) if token in ends), len(row))
    return Completion(row[:end], end < len(row))


def _too_long(waiting: _PendingPrompt, longest: int) -> CallError:
    message = f"the request has {len(waiting.prompt)} tokens; the model takes {longest} with its reply"
    return CallError("prompt too long", message, final=True)


def prompt_seed(seed: int, prompt: Sequence[int]) -> int:
    """The random seed of one request: with one seed, the same prompt gets the same reply."""
    digest = hashlib.sha256(f"{seed}/".encode() + array("q", prompt).tobytes()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


DEFAULT_MAX_TOKENS = 4096
"""Tokens per reply by default: a model that never stops would run until the end of its context."""
DEFAULT_BATCH_SIZE = 8
DEFAULT_PREFIX_MB = 1024
"""Memory for what was computed of the latest prompts."""
SHOWN_BY_TEMPLATE = "chat template"
"""Value of the setting `tools` if the model's template shows them."""
_EXTRA: Mapping[str, type] = {
    "batch_size": int,
    "chat_template_kwargs": dict,
    "device": str,
    "dtype": str,
    "prefix_mb": int,
}
"""The keys of the extra body, with their types."""


class HfModel:
    """Runs in this process. The template shows the tools; a format reads calls from the text."""

    def __init__(self, name: str, path: str, sampling: Sampling, *, completion: bool = False) -> None:
        """Loads tokenizer and template; the weights are loaded at the first call.

        Args:
            completion: continue the text of the one message, without a template.
            sampling: its extra body may hold `batch_size`, `chat_template_kwargs`, `device`, `dtype`.

        Raises:
            UsageError: a library or the model is missing, or a setting is wrong.
        """
        self.name = name
        self.format: CallFormat | None = None
        """Reads calls from replies; None if `PromptedModel` does that."""
        self._chosen = ""
        # Threads of one process that wait for each other must not take the cores from another process.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        torch, transformers = import_for(name, "torch", "hf"), import_for(name, "transformers", "hf")
        extra = _check_extra(sampling.body)
        self.template = (PlainText if completion else ChatTemplate)(
            path, extra.get("chat_template_kwargs", {})
        )
        self._sampling = sampling
        self._settings: dict[str, Any] = {
            "path": path,
            "library": f"transformers {transformers.__version__}, torch {torch.__version__}",
            "device": extra.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"),
            "dtype": extra.get("dtype", "auto"),
            "batch_size": extra.get("batch_size", DEFAULT_BATCH_SIZE),
            "chat_template": self.template.digest,
            "temperature": sampling.temperature,
            "max_tokens": DEFAULT_MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
            **({} if sampling.seed is None else {"seed": sampling.seed}),
            "extra_body": dict(extra),
            **({"api": "completions"} if completion else {}),
        }
        weights = Weights(
            path,
            self._settings["device"],
            self._settings["dtype"],
            frozenset(self.template.end_tokens),
            self.template.pad_token,
        )
        self._generator = Generator(
            weights,
            max_tokens=self._settings["max_tokens"],
            temperature=sampling.temperature,
            batch_size=self._settings["batch_size"],
            prefix_bytes=extra.get("prefix_mb", DEFAULT_PREFIX_MB) << 20,
        )

    def with_format(self, format: CallFormat, origin: str) -> "HfModel":
        """This model, which then reads calls in that format."""
        self.format, self._chosen = format, origin
        return self

    def settings(self) -> Mapping[str, Any]:
        """Weights, template, device, sampling and format."""
        if self.format is None:
            return self._settings
        own = {"tools": SHOWN_BY_TEMPLATE, "format": self.format.name, "format_chosen": self._chosen}
        return {**self._settings, **own}

    async def complete(self, request: Request) -> Reply:
        """Calls once. Raises CallError if the template refuses the request, or it is too long."""
        started = time.perf_counter()
        prompt, changes = self.prompt(request)
        run_seed = self._sampling.seed_of(request)
        seed = secrets.randbits(62) if run_seed is None else prompt_seed(run_seed, prompt)
        completion = await self._generator.reply(prompt, seed)
        text = self.template.decode(completion.tokens)
        spent = len(completion.tokens) + completion.ended
        reply = Reply(
            {"role": "assistant", "content": text},
            raw=text,
            finish_reason="stop" if completion.ended else "length",
            usage={
                "prompt_tokens": len(prompt),
                "completion_tokens": spent,
                "total_tokens": len(prompt) + spent,
            },
            latency_s=time.perf_counter() - started,
            changes=tuple(changes),
        )
        return self._read(reply, request)

    async def close(self) -> None:
        """Cancels all requests and ends the thread."""
        await self._generator.close()

    def prompt(self, request: Request) -> tuple[list[int], Changes]:
        """The request's tokens, and the changes that the template needed. Raises CallError if it refuses the request."""
        format = self.format
        return self.template.prompt(
            request, None if format is None else lambda message: message_as_text(message, format)
        )

    def _read(self, reply: Reply, request: Request) -> Reply:
        """The reply with the calls in its text; without tools it is kept byte for byte."""
        if self.format is None or not (request.tools or any(map(has_calls, request.messages))):
            return reply
        message, names = parse_message(reply.message, self.format, request)
        # What the model's own template writes is not a repair.
        repairs = [name for name in names if name not in self.template.expected_repairs]
        finish_reason = "tool_calls" if message.get("tool_calls") else reply.finish_reason
        changes = (*reply.changes, *(f"{REPAIR_CHANGE}{name}" for name in repairs))
        return replace(reply, message=message, finish_reason=finish_reason, changes=changes)


def hf_model(name: str, path: str, format_name: str | None, sampling: Sampling) -> Model:
    """The model at a path. Its own template shows the tools if that writes calls in the wanted format.

    Args: format_name: None or `auto`: that of the template, else of the name.

    Raises UsageError as `HfModel` does, and if no format is known.
    """
    model = HfModel(name, path, sampling)
    template = model.template
    own = format_of_template(template.text) if template.takes_tools else None
    if own is not None and format_name in (None, AUTO, own.name):
        return model.with_format(own, BY_OPTION if format_name == own.name else BY_TEMPLATE)
    if format_name is None and known_format(path) is None:
        raise UsageError(
            f"no format is known for the chat template and the name of {path}; add --tool-format auto, or one of "
            f"{', '.join(CALL_FORMATS)}"
        )
    return PromptedModel(model, *resolve_format(format_name or AUTO, path))


def _check_extra(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The extra settings. Raises UsageError for one that is unknown or of another type."""
    for key, value in extra.items():
        if key not in _EXTRA:
            raise UsageError(f"the extra body of hf/ models has {', '.join(_EXTRA)}; it has no {key!r}")
        if not isinstance(value, _EXTRA[key]) or isinstance(value, bool):
            raise UsageError(f"{key} in the extra body must be of type {_EXTRA[key].__name__}")
    if extra.get("batch_size", 1) < 1:
        raise UsageError("batch_size in the extra body must be at least 1")
    if extra.get("prefix_mb", 0) < 0:
        raise UsageError("prefix_mb in the extra body must be at least 0")
    return extra
