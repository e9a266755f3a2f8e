"""Prints the estimated calls, tokens, cost and time of runs."""

from collections.abc import Sequence

from wildtool.engine.call.budget import TOKEN_ESTIMATE_ERROR, TOKEN_ESTIMATE_METHOD, SpendingLimits
from wildtool.engine.plan import Plan
from wildtool.engine.run.estimate import (
    ASSUMED_CALL_S,
    RoleEstimate,
    RunTotals,
    Span,
    estimate_run,
    run_totals,
    seconds_of,
    usages_of,
)
from wildtool.engine.score.formatting import format_duration
from wildtool.terminal import print_out


def print_estimate(plans: dict[str, Plan], limits: SpendingLimits) -> None:
    """Calls, tokens, cost and time of the runs, estimated from the data alone."""
    print_out(f"Nothing is sent or written. Tokens are {TOKEN_ESTIMATE_METHOD} ({TOKEN_ESTIMATE_ERROR}).")
    print_out("Assumes gold answers; reasoning and other text cost extra.")
    demands: list[RunTotals] = []
    for name, plan in plans.items():
        roles = estimate_run(plan)
        for role, demand in roles.items():
            print_out(f"{name}, {role} ({plan.models[role].name})" if role != "agent" else name)
            print_usage(plan, role, demand)
        for remark in missing_batch_prices(plan):
            print_out(remark)
        demands.append(run_totals(plan, roles))
        _print_time(demands[-1], plan)
    print_limits(demands, limits)


def missing_batch_prices(plan: Plan) -> list[str]:
    """Which prices do not say what a batch costs, so that the whole is counted."""
    silent = [
        plan.models[role].name
        for role in sorted(plan.batched)
        if (price := plan.prices.get(role)) and price.batch is None and (price.input or price.output)
    ]
    return [f"no batch price is known for {name}; the full price is assumed" for name in silent]


def print_usage(plan: Plan, role: str, demand: RoleEstimate) -> None:
    """What one role would take."""
    price = plan.prices.get(role)
    batched = role in plan.batched
    low, high = usages_of(plan, role, demand)
    print_out(f"  calls          {_range(demand.low.calls, demand.high.calls)}")
    print_out(f"  prompt tokens  {_range(low['prompt_tokens'], high['prompt_tokens'])}")
    print_out(f"  reply tokens   {_range(low['completion_tokens'], high['completion_tokens'])}")
    if price is None:
        print_out("  cost           unknown; add --prices FILE or a price in wildtool.toml")
    else:
        by = ", batch price" if batched else ""
        costs = [price.cost(usage, batched=batched) for usage in (low, high)]
        print_out(f"  cost           {costs[0]:.4f} – {costs[1]:.4f} USD ({price.origin}{by})")
    if batched:
        print_out(
            f"  rounds         {_range(demand.low.longest_unit_calls, demand.high.longest_unit_calls)}, each up to a day"
        )


def print_limits(demands: Sequence[RunTotals], limits: SpendingLimits) -> None:
    """Whether all runs of a command together would reach a limit that the user gave."""
    tokens = sum(demand.tokens[0] for demand in demands), sum(demand.tokens[1] for demand in demands)
    costs = [demand.cost for demand in demands if demand.cost is not None]
    cost = sum(low for low, _ in costs), sum(high for _, high in costs)
    if limits.max_cost is not None:
        total = cost if len(costs) == len(demands) else None
        _print_limit(f"--max-cost {limits.max_cost:g}", limits.max_cost, total, "{:.4f} – {:.4f} USD")
    if limits.max_tokens_total is not None:
        most = limits.max_tokens_total
        _print_limit(f"--max-tokens-total {most:,}", most, tokens, "{:,.0f} – {:,.0f} tokens")
    if limits.deadline_s is not None:
        most = limits.deadline_s
        _print_limit(f"--deadline {most:g}", most, seconds_of(demands), "{:,.0f} – {:,.0f} s")


def _print_limit(limit: str, most: float, span: Span | None, unit: str) -> None:
    if span is None:
        print_out(f"{limit}: cannot tell in advance whether it would be reached")
        return
    low, high = span
    would = "would not" if high <= most else "would" if low > most else "may"
    print_out(f"{limit}: {would} be reached (in all {unit.format(low, high)})")


def _print_time(demand: RunTotals, plan: Plan) -> None:
    if demand.seconds is None or not demand.seconds[1]:
        return
    low, high = map(format_duration, demand.seconds)
    text = low if low == high else f"{low} – {high}"
    rates = plan.rates.get("agent")
    bounds = {"--concurrency": plan.concurrency, "--rpm": rates and rates.rpm, "--tpm": rates and rates.tpm}
    by = ", ".join(f"{option} {value:g}" for option, value in bounds.items() if value)
    print_out(f"  time           {text}, if a call takes {ASSUMED_CALL_S:g} s ({by})")


def _range(low: float, high: float) -> str:
    first, other = sorted((round(low), round(high)))
    return f"{first:,}" if first == other else f"{first:,} – {other:,}"
