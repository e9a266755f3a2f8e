"""Processor time and memory of a session's prompts by `hf/`, beside plain `generate` of transformers for each prompt.

    python bench/local_weights.py FOLDER          # weights as transformers reads them; needs the extra [hf]

The prompts are those of one session of wild-mini with right answers in the history. Alone, not in `all.py`: processor
time, the only figure that other work on the machine leaves alone, needs no pairs.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from importlib import import_module
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.models.local.hf import HfModel
from wildtool.models.settings import Sampling
from wildtool.types import Request

REPLY_TOKENS = 8
WAYS = {
    "plain generate": "prompts one by one, each computed whole",
    "hf/ prefix_mb 0": "wildtool, each prompt computed whole",
    "hf/": "wildtool, with what it computed of the turns before",
}


def requests() -> list[Request]:
    """What one session asks, each turn after the right ones."""
    item = next(WILD_MINI.load(data_of(WILD_MINI).locate(None)))
    asked: list[Request] = []
    for unit in item.units:
        episode = WILD_MINI.rules("fixed").episode(item, unit)
        while (request := episode.request()) is not None and request.gold is not None:
            asked.append(request)
            episode.advance(request.gold("parallel"))
    return asked


async def measure(folder: str, way: str) -> dict[str, Any]:
    """Tokens, processor seconds and most memory of one way, in this process."""
    settings = {"prefix_mb": 0} if way != "hf/" else {}
    sampling = Sampling(
        temperature=0.0, max_tokens=REPLY_TOKENS, extra_body={"dtype": "bfloat16", **settings}
    )
    model = HfModel("m", folder, sampling)
    prompts = [model.prompt(request)[0] for request in requests()]
    generator: Any = model._generator  # pyright: ignore[reportPrivateUsage]
    await generator.reply(prompts[0][:4], 0)  # loads the weights
    start, wall, replies = time.process_time(), time.perf_counter(), list[list[int]]()
    for prompt in prompts:
        if way == "plain generate":
            torch: Any = import_module("torch")
            limits: dict[str, Any] = {"max_new_tokens": REPLY_TOKENS, "do_sample": False, "pad_token_id": 0}
            output: Any = generator._loaded.generate(input_ids=torch.tensor([prompt]), **limits)
            replies.append(output[0, len(prompt) :].tolist())
        else:
            replies.append((await generator.reply(prompt, 0)).tokens)
    figures = {
        "prompt tokens": sum(map(len, prompts)),
        "reused": generator._prefixes.reused,
        "processor s": time.process_time() - start,
        "wall s": time.perf_counter() - wall,
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "first tokens": [reply[:1] for reply in replies],
    }
    await model.close()
    return figures


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(asyncio.run(measure(sys.argv[1], sys.argv[2]))))
        return
    for way, words in WAYS.items():
        lines = subprocess.run(
            [sys.executable, __file__, sys.argv[1], way], stdout=subprocess.PIPE, check=True
        ).stdout
        print(f"{way} ({words}): {json.loads(lines.splitlines()[-1])}", flush=True)


if __name__ == "__main__":
    main()
