"""A language model with random weights, a real tokenizer and a chat template of ours, made on the spot."""

from pathlib import Path
from typing import Any

TEMPLATE = """\
{%- if tools %}<|im_start|>system
Call tools as <tool_call>{"name": NAME, "arguments": ARGUMENTS}</tool_call>.
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- if message.tool_calls is defined %}
{%- for call in message.tool_calls %}
<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>
{%- for key, value in call.function.arguments.items() %}{% endfor %}
{%- endfor %}
{%- endif %}
{%- if message.role == "tool" %} ({{ message.name }}){% endif %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""In the way of Hermes. It goes through arguments as an object and wants the tool's name beside a result."""
TEXTS = [
    "The weather in Oslo is fine.",
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    "今天奥斯陆的天气很好。",
]


def make_model(folder: Path, template: str = TEMPLATE) -> Path:
    """Saves the model into a folder of its own, as transformers reads it."""
    import tokenizers
    import torch
    import transformers

    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    special = ["<|pad|>", "<|im_start|>", "<|im_end|>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TEXTS, trainer)
    tokenizer: Any = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|pad|>"
    )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        # Weights large enough that random texts differ.
        initializer_range=0.5,
    )
    transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder
