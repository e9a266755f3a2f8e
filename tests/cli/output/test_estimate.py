"""What a dry run prints: calls, tokens, cost and time of each role, and which limits would be reached."""

from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli.output import estimate
from wildtool.engine.call.budget import SpendingLimits
from wildtool.engine.run.estimate import RoleEstimate, RunTotals, Span, Usage
from wildtool.models.settings import Rates
from wildtool.models.token_usage import FREE, Price

PRICE = Price(input=2, output=10, batch=0.5, origin="typed")
AGENT = RoleEstimate(Usage(1_200, 30_000.4, 4_000, 2), Usage(1_300, 29_000, 5_000, 3))
USER = RoleEstimate(Usage(7, 10, 20, 1), Usage(7, 10, 20, 1))


def plan(*batched: str, prices: dict[str, Price] | None = None, **fields: Any) -> Any:
    models = {role: SimpleNamespace(name=f"{role}-model", settings=dict) for role in ("agent", "user")}
    own = {"prices": prices or {}, "batched": frozenset(batched), "models": models}
    return SimpleNamespace(**{"concurrency": 4, "rates": {}, **own, **fields})


def totals(cost: Span | None = (1.0, 2.0), seconds: Span | None = (10.0, 20.0), **fields: Any) -> RunTotals:
    return RunTotals(
        **{"tokens": (100.0, 200.0), "cost": cost, "seconds": seconds, "endpoint": "e", **fields}
    )


@pytest.fixture
def estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "estimate_run", lambda plan: {"agent": AGENT, "user": USER})
    monkeypatch.setattr(
        estimate, "run_totals", lambda plan, roles: totals(seconds=(30.0, 200.0) if plan.rates else None)
    )


@pytest.mark.usefixtures("estimated")
def test_each_model_and_role_has_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    one = plan(prices={"agent": PRICE, "user": FREE}, rates={"agent": Rates(rpm=60)})
    two = plan("agent", "user", prices={"agent": PRICE, "user": Price(input=1, output=0, origin="list")})
    estimate.print_estimate({"m": one, "n": two}, SpendingLimits(max_cost=3))
    assert (
        capsys.readouterr().out
        == f"""\
Nothing is sent or written. Tokens are estimated from characters (17 % too low to 16 % too high in tests against three \
tokenizers).
Assumes gold answers; reasoning and other text cost extra.
m
  calls          1,200 – 1,300
  prompt tokens  29,000 – 30,000
  reply tokens   4,000 – 5,000
  cost           0.1000 – 0.1080 USD (typed)
m, user (user-model)
  calls          7
  prompt tokens  10
  reply tokens   20
  cost           0.0000 – 0.0000 USD ({FREE.origin})
  time           30 s – 3.3 min, if a call takes 5 s (--concurrency 4, --rpm 60)
n
  calls          1,200 – 1,300
  prompt tokens  29,000 – 30,000
  reply tokens   4,000 – 5,000
  cost           0.0500 – 0.0540 USD (typed, batch price)
  rounds         2 – 3, each up to a day
n, user (user-model)
  calls          7
  prompt tokens  10
  reply tokens   20
  cost           0.0000 – 0.0000 USD (list, batch price)
  rounds         1, each up to a day
no batch price is known for user-model; the full price is assumed
--max-cost 3: may be reached (in all 2.0000 – 4.0000 USD)
"""
    )


def test_an_unknown_price_is_said_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    estimate.print_usage(plan(), "agent", USER)
    assert capsys.readouterr().out.splitlines()[-1] == (
        "  cost           unknown; add --prices FILE or a price in wildtool.toml"
    )


@pytest.mark.parametrize(
    ("price", "is_silent"),
    [
        (Price(input=1, output=0), True),
        (Price(input=0, output=1), True),
        (Price(input=0, output=0), False),
        (Price(input=1, output=1, batch=0.0), False),
        (None, False),
    ],
)
def test_a_price_that_says_nothing_of_batches_is_named(price: Price | None, is_silent: bool) -> None:
    prices = {} if price is None else {"agent": price, "user": price}
    text = "no batch price is known for {}-model; the full price is assumed"
    both = [text.format("agent"), text.format("user")] if is_silent else []
    assert estimate.missing_batch_prices(plan("user", "agent", prices=prices)) == both
    assert estimate.missing_batch_prices(plan("user", prices=prices)) == both[1:]
    assert estimate.missing_batch_prices(plan(prices=prices)) == []


ALL_LIMITS = SpendingLimits(max_cost=2.5, max_tokens_total=300, deadline_s=30.0)


@pytest.mark.parametrize(
    ("limits", "runs", "lines"),
    [
        (SpendingLimits(), [totals()], []),
        (
            ALL_LIMITS,
            [totals()],
            [
                "--max-cost 2.5: would not be reached (in all 1.0000 – 2.0000 USD)",
                "--max-tokens-total 300: would not be reached (in all 100 – 200 tokens)",
                "--deadline 30: would not be reached (in all 10 – 20 s)",
            ],
        ),
        (
            ALL_LIMITS,
            [totals(), totals()],
            [
                "--max-cost 2.5: may be reached (in all 2.0000 – 4.0000 USD)",
                "--max-tokens-total 300: may be reached (in all 200 – 400 tokens)",
                "--deadline 30: may be reached (in all 20 – 40 s)",
            ],
        ),
        (
            SpendingLimits(max_cost=0.5, max_tokens_total=199, deadline_s=9),
            [totals(), totals(cost=None, endpoint="f")],
            [
                "--max-cost 0.5: cannot tell in advance whether it would be reached",
                "--max-tokens-total 199: would be reached (in all 200 – 400 tokens)",
                "--deadline 9: would be reached (in all 10 – 20 s)",
            ],
        ),
        (
            SpendingLimits(max_tokens_total=2_000, deadline_s=20),
            [totals(tokens=(2_000.0, 2_000.0)), totals(seconds=None)],
            [
                "--max-tokens-total 2,000: would be reached (in all 2,100 – 2,200 tokens)",
                "--deadline 20: cannot tell in advance whether it would be reached",
            ],
        ),
        # Just at the limit: nothing is stopped, and nothing certain.
        (
            SpendingLimits(max_tokens_total=200),
            [totals()],
            ["--max-tokens-total 200: would not be reached (in all 100 – 200 tokens)"],
        ),
        (
            SpendingLimits(max_tokens_total=100),
            [totals()],
            ["--max-tokens-total 100: may be reached (in all 100 – 200 tokens)"],
        ),
        (
            SpendingLimits(max_cost=0.0),
            [totals(cost=(0.0, 0.0))],
            ["--max-cost 0: would not be reached (in all 0.0000 – 0.0000 USD)"],
        ),
    ],
)
def test_a_limit_is_reached_or_not_by_all_runs_together(
    limits: SpendingLimits, runs: list[RunTotals], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    estimate.print_limits(runs, limits)
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    ("seconds", "rates", "line"),
    [
        (None, None, ""),
        ((0.0, 0.0), None, ""),
        ((0.0, 5.0), None, "0 s – 5 s, if a call takes 5 s (--concurrency 4)"),
        (
            (59.8, 60.2),
            Rates(rpm=3, tpm=4_000),
            "60 s, if a call takes 5 s (--concurrency 4, --rpm 3, --tpm 4000)",
        ),
        ((60.0, 60.0), Rates(), "60 s, if a call takes 5 s (--concurrency 4)"),
    ],
)
def test_the_time_is_said_with_what_bounds_it(
    seconds: Span | None, rates: Rates | None, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    its_plan = plan(rates={"agent": rates} if rates else {})
    estimate._print_time(totals(seconds=seconds), its_plan)
    assert capsys.readouterr().out == (f"  time           {line}\n" if line else "")
