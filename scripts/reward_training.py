"""The reward training of docs/environments.md: a small model learns to call three tools, rewarded by the judge.

    python scripts/reward_training.py held-out FILE           # sessions to evaluate on, in WildToolBench's format
    python scripts/reward_training.py teach BASE OUT          # the format of calls, from a few right conversations
    python scripts/reward_training.py learn BASE START OUT --held-out FILE    # GRPO on fresh sessions, evaluated on FILE

Needs torch, transformers, trl and peft. BASE is what `scripts/training_loop.py base` writes.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wildtool.json_codec import as_objects
from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.types import Message
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.bridges.tokens import TokenEpisode, call_format
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ProceduralUnits

TOOLS = {
    "play_song": ("Play a song.", "title", "string", "Title of the song."),
    "get_weather": ("Get the weather of a city.", "city", "string", "The city."),
    "set_timer": ("Set a timer.", "minutes", "integer", "How many minutes."),
}
KINDS = ("Single-Tool", "Chat")
"""Types of tasks that are played: one call, or none. Others take more messages than two CPU cores have time for."""
TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' }}"
    "{%- if message.role == 'system' %}"
    "{{- message.content + '\nTools:' }}"
    "{%- for tool in tools %}"
    "{{- ' ' + tool.function.name + '(' + tool.function.parameters.properties | join(', ') + ')' }}"
    "{%- endfor %}"
    "{%- elif message.tool_calls %}"
    "{%- for call in message.tool_calls %}"
    "{{- '[' if loop.first else ', ' }}{{- call.function.name + '(' }}"
    "{%- for name, value in call.function.arguments.items() %}"
    "{{- (', ' if not loop.first else '') + name + '=' + value | tojson }}"
    "{%- endfor %}"
    "{{- ')' + (']' if loop.last else '') }}"
    "{%- endfor %}"
    "{%- else %}{{- message.content }}{%- endif %}"
    "{{- '<|im_end|>\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)
"""Short, since every token takes time on a CPU."""
FORMAT = "pythonic"
"""Ten tokens for a call; others take up to ninety."""
MOST_TOKENS = 16
"""Of one message."""


class Requests(ProceduralUnits):
    """The first tasks of the stream's sessions, of some types."""

    def draw(self, seed: int | str) -> str:
        names = self._names
        while len(names) <= int(seed):
            name = super().draw(4 * self._next)
            self._next += 1
            item, _ = self.find(name)
            kind = item.data.tasks[0].type
            is_chat = kind == KINDS[1]
            if kind == KINDS[0] or (is_chat and self._chats <= self._share * len(names)):
                self._chats += is_chat
                names.append(name)
        return names[int(seed)]

    def __init__(self, seed: str, tools: Path, chats: float = 1.0) -> None:
        """Args: chats: the largest share of chats. Any text is right there, so they say little to a policy that talks."""
        super().__init__(seed, tools=tools)
        self._share, self._names = chats, list[str]()
        self._next = self._chats = 0


def write_tools(folder: Path) -> Path:
    path = folder / "tools.json"
    tools = [
        {"type": "function", "function": {"name": name, "description": about, "parameters": {
            "type": "object", "properties": {key: {"type": kind, "description": text}}, "required": [key]}}}
        for name, (about, key, kind, text) in TOOLS.items()
    ]  # fmt: skip
    path.write_text(json.dumps(tools), encoding="utf-8")
    return path


def tokenizer_of(base: Path) -> Any:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = TEMPLATE
    tokenizer.eos_token = "<|im_end|>"
    tokenizer.pad_token = "<|endoftext|>"
    return tokenizer


def written(message: Message) -> str:
    """A message as the model is to write it."""
    calls = [
        ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in as_objects(message.get("tool_calls"))
    ]
    return CALL_FORMATS[FORMAT].write(message.get("content") or "", calls)


def right_conversations(units: Requests, tokenizer: Any, count: int) -> list[dict[str, list[int]]]:
    """Right conversations as tokens; only what the model is to write is learned."""
    rows: list[dict[str, list[int]]] = []
    format = call_format(tokenizer, FORMAT)
    for number in range(count):
        environment = UnitEnvironment(units)
        episode = TokenEpisode(RewardedEpisode(environment), units.draw(number), tokenizer, format)
        while not episode.is_over:
            text = written(environment.gold() or {}) + tokenizer.eos_token
            episode.take(tokenizer(text, add_special_tokens=False)["input_ids"])
        assert episode.reward == 1.0, environment.name
        mask = [0] * len(episode.prompt_ids) + episode.mask
        rows.append({"input_ids": episode.context, "completion_mask": mask})
    return rows


def adapter_settings() -> Any:
    from peft import LoraConfig

    # Without the lower layers, a step takes less than half the time.
    return LoraConfig(
        r=16,
        lora_alpha=32,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(20, 30)),
        layers_pattern="layers",
    )


def base_model(base: Path) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16)


def teach(base: Path, out: Path, tools: Path, conversations: int) -> None:
    """Teaches the format of calls by right conversations, and saves the adapter."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    tokenizer = tokenizer_of(base)
    rows = right_conversations(Requests("taught", tools), tokenizer, conversations)
    trainer = SFTTrainer(
        model=base_model(base),
        args=SFTConfig(
            output_dir=str(out),
            num_train_epochs=1,
            per_device_train_batch_size=4,
            learning_rate=1e-3,
            lr_scheduler_type="constant",
            completion_only_loss=True,
            bf16=False,
            use_cpu=True,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
            gradient_checkpointing=False,
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=adapter_settings(),
    )
    trainer.train()
    trainer.save_model(str(out))


def write_held_out(file: Path, tools: Path, calls: int, chats: int) -> None:
    """Writes first tasks of sessions that no training sees, as a set."""
    rest = dict(zip(KINDS, (calls, chats), strict=True))
    spec = SessionGenerationSpec(8 * (calls + chats), tasks=1, seed="held out", tools=tools)
    with file.open("w", encoding="utf-8") as lines:
        for record in procedural_sessions(spec, lambda note: None):
            (kind,) = record["english_task_types"]
            if rest.get(kind):
                rest[kind] -= 1
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def learn(chosen: argparse.Namespace, tools: Path) -> None:
    """Trains by reward on fresh sessions, and evaluates on others."""
    from datasets import Dataset
    from peft import PeftModel
    from trl import GRPOConfig, GRPOTrainer

    from wildtool_train.bridges.trl import UnitRollouts, unit_reward
    from wildtool_train.bridges.trl_evaluation import HeldOutEvaluation

    out: Path = chosen.out
    tokenizer = tokenizer_of(chosen.base)
    rollouts = UnitRollouts(Requests(chosen.stream, tools, chats=0.25), tool_format=FORMAT, max_tokens=256)
    trainer = GRPOTrainer(
        model=PeftModel.from_pretrained(base_model(chosen.base), chosen.start, is_trainable=True),
        args=GRPOConfig(
            output_dir=str(out),
            max_steps=chosen.steps,
            per_device_train_batch_size=chosen.units * chosen.episodes,
            num_generations=chosen.episodes,
            max_completion_length=MOST_TOKENS,
            learning_rate=2e-4,
            lr_scheduler_type="constant",
            bf16=False,
            use_cpu=True,
            report_to=[],
            logging_steps=1,
            save_steps=10,
            gradient_checkpointing=False,
        ),
        train_dataset=Dataset.from_list(rollouts.rows(chosen.steps * chosen.units)),
        processing_class=tokenizer,
        rollout_func=rollouts,
        reward_funcs=unit_reward,
        callbacks=[
            HeldOutEvaluation(
                "wildtoolbench",
                data=str(chosen.held_out),
                every=chosen.every,
                out=out / "held-out",
                max_new_tokens=MOST_TOKENS,
                tool_format=FORMAT,
            )
        ],
    )
    trainer.train(resume_from_checkpoint=any(out.glob("checkpoint-*")))
    trainer.save_model(str(out))
    trainer.save_state()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    teaching = verbs.add_parser("teach")
    teaching.add_argument("base", type=Path)
    teaching.add_argument("out", type=Path)
    teaching.add_argument("--conversations", type=int, default=64)
    learning = verbs.add_parser("learn")
    for name in ("base", "start", "out"):
        learning.add_argument(name, type=Path)
    learning.add_argument("--held-out", type=Path, required=True)
    learning.add_argument("--steps", type=int, default=40)
    learning.add_argument("--units", type=int, default=4, help="of a step")
    learning.add_argument("--episodes", type=int, default=4, help="of a unit")
    learning.add_argument("--stream", default="learned", help="seed of the fresh sessions")
    learning.add_argument("--every", type=int, default=10, help="steps from one evaluation to the next")
    holding = verbs.add_parser("held-out")
    holding.add_argument("file", type=Path)
    holding.add_argument("--calls", type=int, default=48)
    holding.add_argument("--chats", type=int, default=16)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        tools = write_tools(Path(folder))
        if chosen.verb == "teach":
            teach(chosen.base, chosen.out, tools, chosen.conversations)
        elif chosen.verb == "learn":
            learn(chosen, tools)
        else:
            write_held_out(chosen.file, tools, chosen.calls, chosen.chats)


if __name__ == "__main__":
    main()
