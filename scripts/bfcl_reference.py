"""Judges recorded BFCL results by the published package. Runs in an environment that has it; see bfcl_crosscheck.py.

Reads JSON Lines from standard input, each with `file`, `id`, `kind`, `language`, `native`, `form`, `tagged` and
`result`, or with `kind` "part", the name of a `part` and its `input`; writes one JSON object for each, with `valid` and
`error`, or with `valid` and `value`.
"""

import json
import sys
import types
from pathlib import Path

# The checker imports a table of models, and with it the client of every vendor. It needs one flag of it.
_NAMES = types.ModuleType("bfcl_eval.constants.model_config")
_NAMES.MODEL_CONFIG_MAPPING = {
    "fc": types.SimpleNamespace(underscore_to_dot=True),
    "prompt": types.SimpleNamespace(underscore_to_dot=False),
}
sys.modules[_NAMES.__name__] = _NAMES

import bfcl_eval  # noqa: E402
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker, multi_turn_utils  # noqa: E402
from bfcl_eval.model_handler import utils as decoders  # noqa: E402
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output  # noqa: E402

DATA = Path(bfcl_eval.__file__).parent / "data"
_known = {}


def entries(name):
    """By id the questions and answers of one of the package's files."""
    if name not in _known:
        questions = [
            json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines() if line.strip()
        ]
        path = DATA / "possible_answer" / name
        lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        answers = [json.loads(line)["ground_truth"] for line in lines if line.strip()]
        _known[name] = {
            question["id"]: (question, answers[place] if answers else None)
            for place, question in enumerate(questions)
        }
    return _known[name]


def decode(case):
    if case["native"]:
        return [{next(iter(call)): json.loads(call[next(iter(call))])} for call in case["result"]]
    from bfcl_eval.constants.enums import ReturnFormat

    form = ReturnFormat(case["form"])
    return decoders.default_decode_ast_prompting(case["result"], form, case["tagged"])


def single(case):
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    question, answer = entries(case["file"])[case["id"]]
    calls, failed = None, False
    try:
        calls = decode(case)
    except Exception:  # noqa: BLE001 - as the package does
        failed = True
    if case["kind"] in ("irrelevance", "relevance"):
        called = not failed and not is_empty_output(calls)
        right = called == (case["kind"] == "relevance")
        errors = {
            "irrelevance": "irrelevance_error:decoder_success",
            "relevance": "relevance_error:decoder_failed",
        }
        return right, None if right else errors[case["kind"]]
    if failed:
        return False, "ast_decoder:decoder_failed"
    if not is_function_calling_format_output(calls):
        return False, "ast_decoder:decoder_wrong_output_format"
    model = "fc" if case["native"] else "prompt"
    found = ast_checker(
        question["function"], calls, answer, Language(case["language"]), case["id"].rpartition("_")[0], model
    )
    return found["valid"], found.get("error_type")


def executable(case, result):
    try:
        if case["native"]:
            calls = decoders.convert_to_function_call(result)
        else:
            calls = decoders.default_decode_execute_prompting(result)
    except Exception:  # noqa: BLE001 - as the package does
        return None
    return None if multi_turn_utils.is_empty_execute_response(calls) else calls


def multi_turn(case):
    question, answer = entries(case["file"])[case["id"]]
    if len(case["result"]) != len(answer):
        return False, "multi_turn:force_terminated"
    turns = [[calls for step in turn if (calls := executable(case, step))] for turn in case["result"]]
    found = multi_turn_checker.multi_turn_checker(turns, answer, question, "", "checked")
    for name in [name for name in vars(multi_turn_utils) if name.startswith("checked")]:
        delattr(multi_turn_utils, name)  # the package keeps its instances in globals
    return found["valid"], found.get("error_type")


def agentic(case):
    from bfcl_eval.eval_checker.agentic_eval.agentic_checker import agentic_checker

    _, answer = entries(case["file"])[case["id"]]
    last = None
    for step in case["result"]:
        last = step if executable(case, step) is None else last
    if not last:
        return False, "agentic:no_last_message"
    found = agentic_checker(last, answer)
    return found["valid"], found.get("error_type")


RULES = {"multi_turn": multi_turn, "memory": agentic, "web_search": agentic}


def converted(language, text, word, nested):
    from bfcl_eval.eval_checker.ast_eval.type_convertor import java_type_converter, js_type_converter

    if language == "java":
        return java_type_converter.java_type_converter(text, word, nested)
    return js_type_converter.js_type_converter(text, word, nested)


def decoded(form, text):
    from bfcl_eval.constants.enums import ReturnFormat

    name, _, tagged = form.partition("+")
    return decoders.default_decode_ast_prompting(text, ReturnFormat(name), bool(tagged))


def answered(reply, answers):
    from bfcl_eval.eval_checker.agentic_eval.agentic_checker import agentic_checker

    return agentic_checker(reply, answers)["valid"]


PARTS = {
    "convert": converted,
    "decode": decoded,
    "execute": decoders.default_decode_execute_prompting,
    "execute native": decoders.convert_to_function_call,
    "answer": answered,
}


def part(case):
    """What one function of the package gives, as Python text, or the name of what it raises."""
    try:
        return repr(PARTS[case["part"]](*case["input"]))
    except Exception as raised:  # noqa: BLE001 - the package catches everything
        return f"raises {type(raised).__name__}"


for line in sys.stdin:
    case = json.loads(line)
    if case["kind"] == "part":
        print(json.dumps({"valid": True, "value": part(case)}), flush=True)
        continue
    try:
        valid, error = RULES.get(case["kind"], single)(case)
    except Exception as raised:  # noqa: BLE001 - the verdict of an entry that the package cannot judge
        valid, error = False, f"raises {type(raised).__name__}"
    print(json.dumps({"valid": bool(valid), "error": None if valid else error}), flush=True)
