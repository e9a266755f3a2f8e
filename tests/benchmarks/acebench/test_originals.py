"""With `--prompts original` every request is made of the original's texts, word for word."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.acebench import prompts_build
from benchmarks.acebench.reply_build import normal, special, tool
from benchmarks.acebench.sandbox_build import PHONE, edition, record
from wildtool.benchmark import OriginalPrompts
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import ItemData
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.source import read_prompts
from wildtool.engine.registry import choose_prompts, prompts_of
from wildtool.errors import DataError, UsageError
from wildtool.types import Item, Request


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    prompts_build.pin(monkeypatch)
    return prompts_build.write(tmp_path / "acebench")


def sent(asked: Any, profile: str = "official", *told: str, lang: Any = "en") -> list[tuple[str, str]]:
    """Role and text of the messages of a request, after some replies."""
    benchmark = ACEBENCH.in_original_prompts(None)
    assert benchmark is not None
    episode = benchmark.rules(profile).episode(Item("en/x", ("0",), ItemData((asked,), edition(lang))), "0")
    for text in told:
        episode.advance({"content": text})
    request = episode.request()
    assert isinstance(request, Request)
    assert not request.tools
    return [(message["role"], message["content"]) for message in request.messages]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_records_are_sent_in_the_originals_two_messages(lang: str) -> None:
    name, functions = lang.upper(), (tool("f"), tool("g"))
    shown = str(list(functions))
    for asked, system in (
        (
            normal(lang=lang, functions=functions, time="It is {noon}."),
            f"normal {name} It is {{noon}}. [{shown}]",
        ),
        (
            normal(lang=lang, functions=functions, profile="{'a': 1}."),
            f"preference {name} {{'a': 1}}. [{shown}]",
        ),
        (special(lang=lang), f"special {name} Today is Monday. [{[tool()]}]"),
    ):
        assert sent(asked) == [("system", system), ("user", f"history {name}\n{asked.question}")]


def multi_turn(**changed: Any) -> Any:
    return replace(
        record(question="You are Ann."), category="agent_multi_turn", id="agent_multi_turn_0", **changed
    )


@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize(
    ("lang", "greeting", "rules"), [("en", "Help?", "person"), ("zh", "要帮忙吗?", "用户")]
)
def test_the_simulated_user_gets_its_rules_and_an_offer_of_help(
    profile: str, lang: str, greeting: str, rules: str
) -> None:
    assert sent(multi_turn(lang=lang), profile, lang=lang) == [
        ("system", f"{rules} You are Ann."),
        ("user", greeting),
    ]


@pytest.mark.parametrize(
    ("classes", "rules"),
    [(PHONE, "phone EN"), (("Travel",), "travel EN {not a blank}"), (("MessageApi",), "")],
)
def test_an_agent_that_talks_gets_the_rules_of_its_scenario(classes: tuple[str, ...], rules: str) -> None:
    asked = multi_turn(involved_classes=classes, initial_config={})
    shown = str(list(asked.functions))
    assert sent(asked, "official", "Hi {x}", "[turn_on_wifi()]")[0] == ("system", f"turn agent EN\n{rules}")
    assert sent(asked, "official", "Hi {x}")[1] == ("user", f"turn EN <{shown}>\nuser:Hi {{x}}\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_agent_that_works_alone_gets_the_chinese_prompt_always(lang: str) -> None:
    asked = replace(record(), lang=lang)
    shown = str(list(asked.functions))
    lines = "user:Turn on the wifi.\nexecution result:no questions\n"
    assert sent(asked, "official", "What?", lang=lang) == [
        ("system", "step agent ZH\n"),
        ("user", f"step ZH <{shown}>\n{lines}"),
    ]


def test_episodes_that_the_original_lacks_are_sent_in_our_words() -> None:
    benchmark = ACEBENCH.in_original_prompts(None)
    assert benchmark is not None
    item = next(iter(ACEBENCH.load(ACEBENCH.data.locate("finance"))))
    ours, theirs = (one.rules("official").episode(item, "0").request() for one in (ACEBENCH, benchmark))
    assert ours is not None
    assert theirs is not None
    assert ours.messages == theirs.messages


@pytest.mark.parametrize(
    ("mode", "split"), [("fc", None), ("condensed", None), ("minimal", None), ("text", "agent_finance")]
)
def test_other_modes_and_our_own_split_have_no_original(mode: str, split: str | None) -> None:
    assert ACEBENCH.in_mode(mode).in_original_prompts(split) is None
    with pytest.raises(UsageError, match="no original prompts of acebench"):
        choose_prompts(ACEBENCH.in_mode(mode), "original", split)


def test_the_original_is_the_default_where_it_was_pulled(cache: Path) -> None:
    assert prompts_of(choose_prompts(ACEBENCH, None, None))
    assert prompts_of(choose_prompts(ACEBENCH, "own", None)) == ""
    for path in prompts_build.FILES:
        (cache / path).unlink()
    assert prompts_of(choose_prompts(ACEBENCH, None, None)) == ""
    with pytest.raises(UsageError, match="`wildtool data pull acebench` has fetched them"):
        choose_prompts(ACEBENCH, "original", None)


def doctored(path: str, old: str, new: str) -> Mapping[str, str]:
    files = dict(prompts_build.FILES)
    assert old in files[path]
    return {**files, path: files[path].replace(old, new)}


USER, PROMPT = "model_inference/multi_turn/APIModel_user.py", "model_inference/prompt_en.py"


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        (PROMPT, "BASE_PROMPT_EN =", "BASE =", "the constant BASE_PROMPT_EN is missing"),
        (
            PROMPT,
            '"""phone EN"""',
            "open('x').read()",
            "the constant BASE_PROMPT_EN: expected text, found Call",
        ),
        (PROMPT, '"""phone EN"""', "['phone']", "the constant BASE_PROMPT_EN: expected text, found list"),
        (
            PROMPT,
            "{question}",
            "{question.__class__}",
            "the constant USER_PROMPT_EN: expected no blanks but question",
        ),
        (
            PROMPT,
            "{question}",
            "{question!r}",
            "the constant USER_PROMPT_EN: expected no blanks but question",
        ),
        (PROMPT, "{question}", "{0}", "the constant USER_PROMPT_EN: expected no blanks but question"),
        (PROMPT, "{question}", "{question", "the constant USER_PROMPT_EN: its blanks cannot be read"),
        (PROMPT, "USER_PROMPT_EN", "(USER_PROMPT_EN", "not a Python file"),
        (USER, "get_init_prompt", "opens", "get_init_prompt: expected one line of role user for en, found 0"),
        (USER, '"Help?"', "self.help", "get_init_prompt: expected one line of role user for en, found 0"),
        (USER, "要帮忙吗?", "Help!", "get_init_prompt: expected one line of role user for en, found 2"),
    ],
)
def test_files_of_another_shape_are_named_with_the_constant(
    cache: Path, monkeypatch: pytest.MonkeyPatch, path: str, old: str, new: str, said: str
) -> None:
    files = doctored(path, old, new)
    prompts_build.write(cache, files)
    prompts_build.pin(monkeypatch, files)
    with pytest.raises(DataError, match=f"^{path}: {said}"):
        read_prompts()


def test_the_digest_follows_every_text(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {prompts_of(choose_prompts(ACEBENCH, "original", None))}
    for path in prompts_build.FILES:
        files = doctored(path, ' = """', ' = """x')
        prompts_build.write(cache, files)
        prompts_build.pin(monkeypatch, files)
        digests.add(prompts_of(choose_prompts(ACEBENCH, "original", None)))
    assert len(digests) == 1 + len(prompts_build.FILES)


def test_the_benchmark_keeps_the_contract() -> None:
    assert isinstance(ACEBENCH, OriginalPrompts)
    assert END_MARK
