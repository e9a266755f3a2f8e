"""The report's pages for ACEBench's metrics, each with a note on how to read it."""

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
    " of its categories. Atom tests one type of parameter value at a time, Single-Turn and Multi-Turn calls in a"
    " dialogue, Similar API the choice between two similar functions, and Preference arguments that follow from"
    " the user's profile.",
    _by_language("Table 2"),
)
_CATEGORIES = View(
    "categories",
    "Categories",
    "Every category on its own. Two kinds have more than one number. A dialogue (multi_turn) counts as correct"
    " only if all its turns are; “(turns)” is the share of correct turns and “(process)” its mean over"
    " dialogues. An episode (agent) counts as correct if the sandbox ends in the expected state; “(process)” is"
    " the mean share of milestones reached on the way, so a model with a high process but a low"
    " end-state score knows the calls but loses track of the goal.",
    _by_language("categories"),
)
_ERRORS = View(
    "errors",
    "Errors",
    "What went wrong. For Normal units and episodes: shares of the wrong ones, which add up to 100 %. For"
    " Special units, as in the paper's Table 5: shares of all incomplete and wrong-value requests; Error"
    " Detection did not notice or report the problem in the required words, Error Correction did but named"
    " other parameters or values. Unclear and Unusable Gold are not kinds of mistakes: the published"
    " evaluator assigns no class there.",
    ("errors (Normal)", "errors (Special)", "errors (Agent)"),
    "stacked",
)
_FINANCE = View(
    "agent-finance",
    "Finance episodes",
    "Episodes that we wrote for a scenario which the paper names but its data lack. They count in no other table."
    " Read them like the agent categories: end state first, “(process)” for the share of milestones.",
    (*_by_language("agent finance"), "errors (Agent finance)"),
)
_COST = View(
    "cost",
    "Cost",
    "The average per unit: model calls, tokens as reported by the endpoint, measured seconds per call. Calls of a"
    " simulated user are not counted. Tokens of different models are not the same length.",
    ("cost",),
)


VIEWS = (_TABLE, _CATEGORIES, _ERRORS, _FINANCE, _COST)
"""The pages, in order; the same for every profile."""
