"""Whether a run may continue at another address of its model, and at which addresses its replies were given."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from wildtool.json_codec import as_object

ADDRESS_PARTS = ("base_url", "address_digest")
"""Settings of a model that say where it is asked."""
_NEVER_ANSWERED = ("stopped: AllRefusedError", "stopped: GivenUpError")
"""Statuses of a start of the command whose model answered nothing."""


def moved_roles(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """The roles whose models are asked at another address now that may be one of the same server, with that address.

    Args:
        before: the models of a run by their roles, as in its identity.
        now: those of this start of the command.
    """
    moved: dict[str, str] = {}
    for role, model in before.items():
        old, new = (_address(each) for each in (model, now.get(role)))
        if any(
            "address_digest" in as_object(as_object(each).get("settings")) for each in (model, now.get(role))
        ):
            # A part that is not shown, such as a deployment in the query, may differ too.
            continue
        if old and new and old != new and not address_difference(old, new):
            moved[role] = new
    return moved


def address_difference(old: str, new: str) -> str:
    """Why two addresses cannot be those of one server, in words; empty where they may be.

    A server that was started again may have another port or another host. A known provider's host is that provider, and
    a path or parameters may name the model, as those of deployments do.
    """
    try:
        first, second = urlsplit(old), urlsplit(new)
        before, now = (_provider(url.hostname) for url in (first, second))
    except ValueError:
        return "one of them cannot be read"
    if before != now:
        return f"{now or 'no known provider'} instead of {before or 'no known provider'}"
    is_same_path = first.path.rstrip("/") == second.path.rstrip("/") and first.query == second.query
    return "" if is_same_path else "another path or other parameters, which may name another model"


def _provider(host: str | None) -> str:
    """The provider of a host; empty for all others, such as own servers and gateways."""
    from wildtool.models.resolve import PRESETS  # reading a record needs none

    with_keys = {preset.base_url: prefix for prefix, preset in PRESETS.items() if preset.key_env}
    return next((prefix for url, prefix in with_keys.items() if host and f"//{host}/" in url), "")


def asked_addresses(run_json: Mapping[str, Any]) -> dict[str, str]:
    """The addresses at which the model under test gave replies, each with the time of the first start there."""
    times: dict[str, str] = {}
    for sitting in _starts_with_calls(run_json):
        address = as_object(sitting.get("addresses")).get("agent") or _address(
            as_object(run_json["identity"]["models"]).get("agent")
        )
        if isinstance(address, str) and address:
            times.setdefault(address, str(sitting.get("started", "")))
    return times


def _starts_with_calls(run_json: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The starts of the command that made a call, or of which nobody knows."""
    for sitting in map(as_object, run_json["sittings"]):
        calls = as_object(sitting.get("spent")).get("calls")
        if calls != 0 and sitting.get("status") not in _NEVER_ANSWERED:
            yield sitting


def _address(model: Any) -> str:
    """Where a model of an identity is asked; empty for one without an address."""
    address = as_object(as_object(model).get("settings")).get("base_url")
    return address if isinstance(address, str) else ""
