"""What the options of a run mean: each reaches the settings it is for, and what nothing can keep is refused by name."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.aid.aid import Aid
from wildtool.alter.catalogue.catalogue import Catalogue
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.cli.command import parse_duration, parse_json_object, split_values
from wildtool.cli.options.run import RoleOptions, RunOptions, UnitOrder
from wildtool.engine.call.budget import SpendingLimits
from wildtool.engine.sampling import ItemSample
from wildtool.errors import UsageError
from wildtool.models.resolve import ModelOptions
from wildtool.models.settings import EndpointOptions, Rates, Sampling


def options(**settings: Any) -> RunOptions:
    return RunOptions(model=["m"], **settings)


def open_replies(path: Path, model: str | None) -> Any:
    raise AssertionError


def test_options_of_the_tested_model() -> None:
    given = options(
        base_url="http://h/v1",
        api_key_env="KEY",
        api_key_file=Path("key"),
        timeout=5.0,
        temperature=0.5,
        max_tokens=9,
        seed=3,
        extra_body='{"top_p": 0.5}',
        stream=True,
        format_="hermes",
    )
    assert given.model_options(open_replies) == ModelOptions(
        endpoint=EndpointOptions(
            base_url="http://h/v1", api_key_env="KEY", api_key_file=Path("key"), timeout_s=5.0
        ),
        sampling=Sampling(temperature=0.5, max_tokens=9, seed=3, extra_body={"top_p": 0.5}, stream=True),
        format="hermes",
        api="chat",
        open_replies=open_replies,
    )
    assert options().model_options(open_replies, completion=True) == ModelOptions(
        endpoint=EndpointOptions(timeout_s=600.0), api="completions", open_replies=open_replies
    )


@pytest.mark.parametrize(
    ("server", "shown"), [(None, "http://h:{port}/v1"), ("serve {port}", "http://h:0/v1")]
)
def test_the_port_of_a_server_is_left_open(server: str | None, shown: str) -> None:
    made = options(server=server, base_url="http://h:{port}/v1").model_options(open_replies)
    assert made.endpoint.base_url == shown


def test_options_of_other_roles() -> None:
    given = options(
        user_model="u",
        user_base_url="http://u",
        user_api_key_env="UK",
        user_temperature=0.5,
        user_max_tokens=7,
        user_rpm=2.0,
        user_tpm=3.0,
        judge="j",
        judge_base_url="http://j",
        judge_api_key_env="JK",
        judge_max_tokens=8,
        retriever="r",
        retriever_top_k=4,
        tools_model="t",
        tools_base_url="http://t",
    )
    assert given.role_options("user") == RoleOptions(
        model="u",
        endpoint=EndpointOptions(base_url="http://u", api_key_env="UK"),
        temperature=0.5,
        max_tokens=7,
        rates=Rates(rpm=2.0, tpm=3.0),
    )
    assert given.role_options("judge") == RoleOptions(
        model="j", endpoint=EndpointOptions(base_url="http://j", api_key_env="JK"), max_tokens=8
    )
    assert given.role_options("retriever") == RoleOptions(model="r", top_k=4)
    assert given.role_options("tools") == RoleOptions(
        model="t", endpoint=EndpointOptions(base_url="http://t")
    )
    assert given.role_options("user").explicit == ["base_url", "api_key_env", "temperature", "max_tokens"]
    assert given.role_options("retriever").explicit == []


def test_options_that_a_plan_takes_over() -> None:
    defaults = {
        "seed": None,
        "split": None,
        "lang": None,
        "limit": None,
        "repeats": 1,
        "concurrency": 32,
        "ids": (),
        "sample": None,
        "timeout_s": 600.0,
        "max_attempts": 6,
        "in_order": False,
    }
    assert options().plan_settings() == defaults
    given = options(
        seed=1,
        split="s",
        lang="en",
        limit=2,
        repeats=3,
        concurrency=4,
        ids=["a, b", "c"],
        sample=5,
        sample_seed=6,
        timeout=7.0,
        retries=0,
        order=UnitOrder.prefix,
    )
    assert given.plan_settings() == {
        "seed": 1,
        "split": "s",
        "lang": "en",
        "limit": 2,
        "repeats": 3,
        "concurrency": 4,
        "ids": ("a", "b", "c"),
        "sample": ItemSample(5, 6),
        "timeout_s": 7.0,
        "max_attempts": 1,
        "in_order": True,
    }


def test_limits_of_the_whole_command() -> None:
    assert options().spending_limits() == SpendingLimits(
        max_cost=None, max_tokens_total=None, deadline_s=None
    )
    given = options(max_cost=1.5, max_tokens_total=9, deadline="1h30m")
    assert given.spending_limits() == SpendingLimits(max_cost=1.5, max_tokens_total=9, deadline_s=5400.0)
    assert options(rpm=2.0, tpm=3.0).rates == Rates(rpm=2.0, tpm=3.0)


def test_each_model_is_run_once() -> None:
    assert RunOptions(model=["b", "a", "b"]).model_names == ["b", "a"]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"model": ["m", " "]}, "--model is empty; give a name, such as --model baseline/gold"),
        ({"ids": ["a"], "sample": 2}, "give --ids or --sample, not both"),
        ({"ids": [", "]}, "--ids is empty; give ids separated by commas, or leave it out for all items"),
        ({"timeout": 0.0}, "--timeout is 0; it must be a number of seconds above 0"),
        ({"timeout": INF}, "--timeout is inf; it must be a number of seconds above 0"),
        ({"rpm": 0.0}, "--rpm is 0; it must be a number above 0"),
        ({"tpm": NAN}, "--tpm is nan; it must be a number above 0"),
        ({"user_rpm": -1.0}, "--user-rpm is -1; it must be a number above 0"),
        ({"user_tpm": INF}, "--user-tpm is inf; it must be a number above 0"),
        ({"max_cost": -0.5}, "--max-cost is -0.5; it must be a number from 0"),
        ({"max_cost": INF}, "--max-cost is inf; it must be a number from 0"),
        *(
            (
                {"server": server, "base_url": base_url},
                "--server and --base-url need {port} both, such as --server 'vllm serve NAME --port {port}' "
                "--base-url 'http://127.0.0.1:{port}/v1'",
            )
            for server, base_url in (
                ("serve", "http://h:{port}"),
                ("serve {port}", "http://h"),
                ("serve {port}", None),
            )
        ),
    ],
)
def test_values_that_no_run_can_use_are_refused(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        RunOptions(**{"model": ["m"], **settings}).check()
    assert str(caught.value) == fault


def test_values_at_the_edge_are_fine() -> None:
    options(timeout=0.1, rpm=0.1, tpm=0.1, user_rpm=0.1, max_cost=0.0, ids=["a"]).check()
    options(server="serve {port}", base_url="http://h:{port}/v1").check()
    options(base_url="http://h", sample=2).check()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("45s", 45),
        ("1.5", 1.5),
        ("30m", 1800),
        ("1h30m", 5400),
        (" 2d1h1m1s ", 176_461),
        ("2d", 172_800),
        ("1", 1),
        ("0.5s", 0.5),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "m", "1x", "1m1h", "1.5m", "-1", "nan", "inf", "9" * 400, "١"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_duration(text)
    assert str(caught.value) == f"{text!r} is not a duration; examples: 90 (seconds), 30m, 1h30m"


def test_values_are_split_at_commas() -> None:
    assert split_values(["a, b", "", ",c,"]) == ("a", "b", "c")
    assert split_values(None) == ()


def test_a_json_object_is_read_and_never_repeated_in_a_message() -> None:
    assert parse_json_object(None, "--x") == {}
    assert parse_json_object('{"a": [1]}', "--x") == {"a": [1]}
    with pytest.raises(UsageError) as caught:
        parse_json_object("[1]", "--x")
    assert str(caught.value) == "--x must be a JSON object; example: --x '{\"top_p\": 0.9}'"
    with pytest.raises(UsageError, match=r"^--x is not JSON \(.*\); example: --x '\{\"top_p\": 0\.9\}'$"):
        parse_json_object("secret", "--x")


@pytest.mark.parametrize(("sizes", "expected"), [(None, []), ("5", [5]), ("5,10", [5, 10])])
def test_sizes_of_a_catalogue_are_a_run_each(sizes: str | None, expected: list[int]) -> None:
    assert options(catalogue=sizes).catalogue_sizes == expected


def test_alterations_come_in_their_order(tmp_path: Path) -> None:
    assert options().alterations() == ()
    hints = tmp_path / "hints.jsonl"
    hints.write_text('{"item": "i", "unit": "0", "step": 0, "text": "t"}\n', "utf-8")
    given = options(
        history="own", tools_model="m",
        catalogue="9", catalogue_kinds="random", catalogue_seed=1, catalogue_retriever="e", catalogue_top_k=4,
        failures="down", failures_seed=2,
        noise="order:slight", noise_seed=3,
        inject="base", inject_seed=4,
        hints=str(hints), rationale="own",
    )  # fmt: skip
    assert given.alterations() == (
        OwnHistory(Unrecorded.simulate),
        Catalogue.parse("9", "random", seed=1, retriever="e", top_k=4, tools=()),
        Failures(FailureSchedule.parse("down"), 2),
        Noise.parse("order:slight", 3),
        Injection(InjectionSetting.base, 4),
        Aid.given(str(hints), "own"),
    )
    assert options(history="own").alterations() == (OwnHistory(Unrecorded.refuse),)
    assert options(hints=str(hints)).alterations() == (Aid.given(str(hints), None),)
    assert options(rationale="own").alterations() == (Aid.given(None, "own"),)
    assert len(options(catalogue="9", noise="names:slight").alterations()) == 2
    with pytest.raises(UsageError) as caught:
        options(catalogue="9", catalogue_retriever="bm25", noise="names:slight").alterations()
    assert str(caught.value) == (
        "--catalogue-retriever goes by the names of tools, which --noise names changes; leave out one of the two"
    )


def test_tools_of_a_file_join_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = ({"type": "function", "function": {"name": "own"}},)
    read = {Path("t.json"): tools}.__getitem__
    monkeypatch.setattr("wildtool.sets.make.tool_sources.tool_files.tools_of_file", read)
    (catalogue,) = options(catalogue="9", catalogue_tools=Path("t.json")).alterations()
    default = options()
    assert catalogue == Catalogue.parse(
        "9", default.catalogue_kinds, seed=0, retriever="", top_k=default.catalogue_top_k, tools=tools
    )


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        ({"retriever_base_url": "http://h", "retriever_api_key_env": "KEY"}, "base-url"),
        ({"retriever_api_key_env": "KEY"}, "api-key-env"),
        ({"retriever_base_url": "http://h", "retriever": "bm25"}, "base-url"),
        ({"retriever_base_url": "http://h", "retriever_api_key_env": "KEY", "retriever": "e"}, None),
        ({"retriever": "bm25"}, None),
    ],
)
def test_an_endpoint_of_a_retriever_is_one_of_embeddings(
    settings: dict[str, str], option: str | None
) -> None:
    benchmark: Any = SimpleNamespace(name="b", roles={}, mode="retrieval", modes={"retrieval": ""})
    if option is None:
        options(**settings).check_roles(benchmark)
    else:
        with pytest.raises(UsageError) as caught:
            options(**settings).check_roles(benchmark)
        needs = f"--retriever-{option} needs --retriever with the name of an embedding model"
        assert str(caught.value) == needs
