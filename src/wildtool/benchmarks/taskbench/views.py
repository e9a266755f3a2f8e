"""The report's pages for TaskBench's metrics, each with a note on how to read it."""

from wildtool.benchmark import View
from wildtool.benchmarks.taskbench.data import DOMAINS, STRUCTURES
from wildtool.benchmarks.taskbench.summary import DOMAIN_MEAN

_EDGES = (
    "Under toleap a perfect model has an Edge F1 of about 59 % in huggingface and 63 % in multimedia, since plans of one"
    " tool count 0 there (Q1)."
)
_SCORES = (
    "How well a model turns a request into a plan. ROUGE compares the words of the steps, Node F1 the tools, Edge F1 the"
    " links between them, and the last two the arguments: their names alone (their kinds, where arguments have no names),"
    " and names with values. Values are the hardest, and ToLeaP's figure takes that number."
)
VIEWS = (
    View("scores", "Scores", _SCORES, (DOMAIN_MEAN, *DOMAINS), note=_EDGES),
    View(
        "structures",
        "Single, chain, DAG",
        "The same scores by the shape of the gold plan: one tool, a chain, or a graph with branches.",
        tuple(f"{domain} ({shape})" for domain in DOMAINS for shape in STRUCTURES),
        note=_EDGES,
    ),
    View(
        "errors",
        "Errors",
        "The first thing that is wrong with each wrong plan: no plan at all, other tools, other links, other arguments.",
        ("errors",),
        "stacked",
    ),
    View("cost", "Cost", "Tokens and seconds of one plan.", ("cost",)),
)
"""The pages, in order; the same for every profile."""
