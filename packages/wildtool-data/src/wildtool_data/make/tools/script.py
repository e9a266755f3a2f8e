"""The script of one attempt at a tool: it yields requests to roles and is sent the replies.

One role designs or evolves the tool; another, which sees only the definition, makes up a call. What breaks a rule is
returned to its role; after some tries the attempt is lost, with its reason.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.toolcall.schema import as_schema
from wildtool_data.make.core.roles import RoleCoroutine, RoleSession, ScriptResult, run_tries
from wildtool_data.make.tools.api import ApiSpec, api_parameter_classes
from wildtool_data.make.tools.assignments import Assignment
from wildtool_data.make.tools.rules import parse_call, parse_design, proposed_names
from wildtool_data.make.tools.tree import SUBDOMAIN_DEPTH, child_id, plain_name

API_PROMPTS = Path(__file__).parent / "prompts"
_MOST_SHOWN = 15
"""Newest siblings that a role is shown."""
NodeProposal = tuple[str, str]
"""A node for the tree: id of the one above (empty for a domain), and its name."""


@dataclass(frozen=True, slots=True)
class AcceptedApi:
    """An API that kept all rules."""

    api: ApiSpec
    nodes: tuple[NodeProposal, ...]
    """Its function, and the sub-domain if that is new."""
    proposals: tuple[NodeProposal, ...]
    """Further nodes that the designer proposed."""


def api_script(assignment: Assignment, used: Collection[str]) -> RoleCoroutine[ScriptResult[AcceptedApi]]:
    """Makes one tool: yields requests, returns what came of it.

    Args: taken: names of existing tools, in lower case.
    """
    return run_tries(1, lambda _, counters: _api(assignment, used, counters))


def _api(assignment: Assignment, used: Collection[str], tally: Counter[str]) -> RoleCoroutine[AcceptedApi]:
    roles = RoleSession(API_PROMPTS, assignment.lang, {}, tally)
    blocks = [block for block in (assignment.operator, assignment.target) if block]
    role = "designer" if assignment.parent is None else "evolver"
    design = yield from roles.ask(
        role, blocks, _situation(assignment), lambda text: parse_design(text, assignment, used)
    )
    api = as_schema(design["api"])
    use = [
        name
        for name, atom in api_parameter_classes(as_schema(api["parameters"])).items()
        if atom == assignment.target
    ]
    # The caller sees no more than a model that is offered the tool later.
    definition = {key: api[key] for key in ("name", "description", "parameters")}
    call = yield from roles.ask(
        "caller", [], {"api": definition, "use": use[:1]}, lambda text: parse_call(text, api, use[:1])
    )
    function = assignment.function.name if assignment.function else plain_name(str(design["function"]))
    place, path = assignment.place.id, assignment.path
    nodes: list[NodeProposal] = []
    proposed = [(assignment.place.parent, name) for name in proposed_names(design, "subdomains")]
    if assignment.place.depth < SUBDOMAIN_DEPTH:
        # A domain without sub-domains: what is found becomes the first, else it is called like the domain.
        name = next((name for _, name in proposed), assignment.place.name)
        nodes.append((place, name))
        proposed = [(place, name) for _, name in proposed]
        place, path = child_id(place, name), (*path, plain_name(name))
    nodes.append((place, function))
    proposed += [(place, name) for name in proposed_names(design, "functions")]
    parent = assignment.parent
    return AcceptedApi(
        ApiSpec(
            name=str(api["name"]),
            description=str(api["description"]),
            parameters=as_schema(api["parameters"]),
            returns=as_schema(api["returns"]),
            lang=assignment.lang,
            place=place,
            node=child_id(place, function),
            tree_path=(*path, function),
            parents=(parent.name,) if parent else (),
            generation=parent.generation + 1 if parent else 0,
            operator=assignment.operator,
            target=assignment.target,
            attempt=assignment.attempt,
            call=call,
        ),
        tuple(nodes),
        tuple(proposed),
    )


def _situation(assignment: Assignment) -> dict[str, Any]:
    siblings = [
        {"name": api.name, "description": api.description} for api in assignment.siblings[-_MOST_SHOWN:]
    ]
    situation: dict[str, Any] = {"place": list(assignment.path), "apis": siblings}
    if assignment.function is not None:
        situation["function"] = assignment.function.name
    if assignment.complexity:
        situation["parameters"] = list(assignment.complexity)
    if assignment.kind:
        situation["kind"] = assignment.kind
    if assignment.parent is not None:
        situation["api"] = assignment.parent.function
    return situation


API_ROLES: Mapping[str, str] = {
    "agent": "stands for the default model; is asked nothing",
    "reader": "looks for domains and functions in documents",
    "designer": "designs an API for a place of the tree",
    "evolver": "makes another API out of one",
    "caller": "makes up a call of an API from its definition alone",
}
