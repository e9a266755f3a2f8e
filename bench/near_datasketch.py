"""The baseline of near_duplicates.py: candidates by datasketch, with as many values and bands as wildtool has."""

import json
import sys

from datasketch import MinHash, MinHashLSH

lsh = MinHashLSH(num_perm=128, params=(32, 4))
found = 0
with open(sys.argv[1], encoding="utf-8") as lines:  # noqa: PTH123 - as short as it can be
    for number, line in enumerate(lines):
        words = json.loads(line)["conversations"][0]["value"].split()
        signature = MinHash(num_perm=128, seed=1)
        signature.update_batch([" ".join(words[k : k + 5]).encode() for k in range(len(words) - 4)])
        found += bool(lsh.query(signature))
        lsh.insert(number, signature)
print(found)
