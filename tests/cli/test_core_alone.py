"""The command as `pip install wildtool` gives it: no verb of the core needs what an extra brings."""

import json
import subprocess
import sys

import pytest

EXTRAS = (
    "altair",
    "jinja2",
    "vl_convert",
    "scipy",
    "numpy",
    "pandas",
    "pyarrow",
    "inspect_ai",
    "rouge",
    "rensa",
    "zstandard",
    "tokenizers",
    "jsonschema",
    "pydantic",
    "playwright",
    "pytest",
    "transformers",
    "torch",
    "openai",
    "httpx",
)
"""What extras bring, and what only development or the user's own machine has."""
PLAYED = "run wild-mini --limit 1 --model baseline/gold --model baseline/lexical --out runs --quiet"
"""Two runs below `runs`, which the other commands read."""
OF_THE_CORE = (
    "--help",
    "list",
    "list models",
    "data lint wild-mini",
    "data stats wild-mini",
    "score runs --profile fixed",
    "show runs",
    "show --published wildtoolbench runs --profile paper",
    "compare runs",
    "audit wild-mini --profile fixed",
    "report runs --format md",
    "report runs --format latex",
    "export runs/baseline--gold --to csv --out verdicts.csv",
    "export runs/baseline--gold --to bundle --out run.zip",
    "data convert runs/baseline--gold --allow-benchmark-data --to trl --out rows.jsonl",
)
OF_AN_EXTRA = {
    "report runs": "wildtool[report]",
    "view runs --port 0": "wildtool[report]",
    "run wild-mini --model hf/some/model": "wildtool[hf]",
    "run wild-mini --model inspect/mockllm/model": "wildtool[inspect]",
    "export runs/baseline--gold --to inspect --out run.eval": "wildtool[inspect]",
}
ALONE = f"""
import json, sys
# None in the table of modules makes Python raise ModuleNotFoundError.
sys.modules.update(dict.fromkeys({EXTRAS!r}))
from typer.testing import CliRunner
from wildtool.cli import app
ended = {{}}
for words in json.load(sys.stdin):
    result = CliRunner().invoke(app, words.split(), prog_name="wildtool")
    ended[words] = result.exit_code, f"{{result.stderr}}{{result.exception or ''}}"
print(json.dumps(ended))
"""

Ended = dict[str, tuple[int, str]]


@pytest.fixture(scope="module")
def ended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Status and errors of each command that a test asks for, all typed in one process that has nothing but the core."""
    tests = [test for test in request.session.items if isinstance(test, pytest.Function)]
    selected = {test.callspec.params["words"] for test in tests if test.path == request.path}
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=tmp_path_factory.mktemp("core"),
        input=json.dumps([PLAYED, *(words for words in (*OF_THE_CORE, *OF_AN_EXTRA) if words in selected)]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("words", [PLAYED, *OF_THE_CORE])
def test_a_verb_of_the_core_needs_no_extra(words: str, ended: Ended):
    status, err = ended[words]
    assert status == 0, err


@pytest.mark.parametrize("words", OF_AN_EXTRA)
def test_a_verb_whose_extra_is_missing_names_it_and_ends_with_2(words: str, ended: Ended):
    status, err = ended[words]
    assert (status, OF_AN_EXTRA[words] in err) == (2, True), err
