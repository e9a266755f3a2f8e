"""The pages that a report has for ACEBench's numbers, each with how to read it."""

from wildtool.benchmark import View


def _by_language(group: str) -> tuple[str, ...]:
    """The mean of both languages first, then each."""
    return (group, f"{group} (en)", f"{group} (zh)")


_TABLE = View(
    "table-2",
    "Table 2",
    "The paper's Table 2: Normal is the mean of its categories, Special and Agent likewise, and Overall"
    " weighs the three by the square roots of their sizes. The first table is the mean of both languages, as"
    " the paper prints it; a run in one language has only its own. A column is left out where a run lacks one"
    " of its categories. Atom asks for one value of one type each, Single-Turn and Multi-Turn for calls in a"
    " dialogue, Similar API for the right one of two look-alikes, Preference for arguments that follow from a"
    " profile of the user.",
    _by_language("Table 2"),
)
_CATEGORIES = View(
    "categories",
    "Categories",
    "Every category on its own. Two kinds have more than one number. A dialogue (multi_turn) counts as right"
    " only if all its turns are; “(turns)” is the share of right turns and “(process)” its mean over"
    " dialogues. An episode (agent) counts as right if the sandbox ends in the expected state; “(process)” is"
    " the mean share of milestones reached on the way, so a model with much process and little end state knows"
    " the calls but loses the thread.",
    _by_language("categories"),
)
_ERRORS = View(
    "errors",
    "Errors",
    "What went wrong. Of Normal units and episodes: shares of the wrong ones, which add up to 100 %. Of"
    " Special units, as the paper's Table 5: shares of all incomplete and wrong-value requests; Error"
    " Detection did not notice or report the problem in the required words, Error Correction did but named"
    " other parameters or values. Unclear and Unusable Gold are no mistakes of one kind: the published"
    " evaluator gives no class there.",
    ("errors (Normal)", "errors (Special)", "errors (Agent)"),
    "stacked",
)
_FINANCE = View(
    "agent-finance",
    "Finance episodes",
    "Episodes of the scenario that the paper names and its data lack; ours, and part of no number above. Read"
    " them like the agent categories: end state first, “(process)” for the share of milestones.",
    (*_by_language("agent finance"), "errors (Agent finance)"),
)
_COST = View(
    "cost",
    "Cost",
    "What a unit took on average: model calls, tokens as the endpoint reports them, seconds per call as"
    " measured here. A simulated user's calls are not counted. Tokens of different models are not the same"
    " length.",
    ("cost",),
)


VIEWS = (_TABLE, _CATEGORIES, _ERRORS, _FINANCE, _COST)
"""The pages, in order; the same for every profile."""
