"""The roles that make APIs."""

from collections.abc import Mapping

ROLES: Mapping[str, str] = {
    "agent": "stands for the default model; is asked nothing",
    "reader": "looks for domains and functions in documents",
    "designer": "designs an API for a place of the tree",
    "evolver": "makes another API out of one",
    "caller": "makes up a call of an API from its definition alone",
}
