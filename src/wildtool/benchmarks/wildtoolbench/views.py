"""The pages that a report has for WildToolBench's numbers, each with how to read it."""

from wildtool.benchmark import View

_TYPES = View(
    "types-and-positions",
    "Types and positions",
    "Accuracy by what a task asks for and by its place in the session. Single-Tool needs one call; Multi-Tool"
    " needs several, and its three kinds say whether these are independent (Parallel), a chain (Sequential) or"
    " both (Mixed); Clarify needs a question to the user first; Chat needs no call at all, and any text passes"
    " there, as published, whatever it says (under `fixed`, “Chat, asked back” counts the answers that were"
    " questions). A model that calls too readily loses in Clarify and Chat, one that asks too readily loses in"
    " the others. Positions 1 to 4 are the tasks of a session in order: each later task has a longer history,"
    " and that history is always gold, so a fall from left to right shows what long context costs and not the"
    " model's own earlier mistakes.",
    ("task type", "position", "gold calls", "turns"),
)
_INTENT = View(
    "hidden-intent",
    "Hidden intent",
    "The paper's Figure 6: accuracy by where the user's intent is hidden. The first task of a session says"
    " everything (First Turn); all later ones (Subsequent Turn) leave something out. Coreferential Reference"
    " points back (“book that one”), Partial Information leaves out what was said before, Long-Range"
    " Dependency needs something from more than one task ago. Compare each bar with First Turn: the gap is the"
    " price of intent that must be gathered.",
    ("hidden intent",),
)
_TRANSITIONS = View(
    "instruction-transitions",
    "Instruction transitions",
    "The paper's Figure 7: accuracy by how often the kind of task (one tool, several tools, clarify, chat)"
    " changes within a session, from 0 (all four of one kind) to 3 (never the same kind twice in a row). The"
    " band is the 95 % interval, clustered by session; some points rest on few sessions, so look at the"
    " band before the slope.",
    ("instruction transitions",),
    "lines",
    "instruction transitions",
)
_ORCHESTRATION = View(
    "orchestration",
    "Orchestration",
    "The paper's Table 3: how tasks with several calls are carried out, by the shape of their gold graph."
    " Accuracy counts tasks that are right in every step. Optimal path (OP), for parallel and mixed graphs,"
    " counts those that were also done in as few steps as the graph allows, so it shows who makes independent"
    " calls together. Accomplish progress (AP), for sequential and mixed graphs, is the share of the way that"
    " was gone before the first mistake. Published AP divides steps by gold calls and can exceed 1; nodes done"
    " / nodes is the same thing with one unit in both places.",
    (
        "orchestration",
        "optimal path (OP)",
        "accomplish progress (AP)",
        "accomplish progress (nodes done / nodes)",
    ),
    note="A perfect run need not have an AP or an OP of 100 %. Published AP divides steps by gold calls: a run that makes"
    " independent calls together needs fewer steps, so its AP is below 100 %, and one that makes them one by one reaches"
    " 100 % but has an OP of 0 %, since it takes more steps than the graph allows. Nodes done / nodes has no such gap.",
)


_ERRORS = View(
    "errors",
    "Errors",
    "The paper's Table 4: what went wrong, as shares of the wrong tasks; the shares of a model add up to 100"
    " %. The first mistake decides. Refusal, Wrong Name / Missing Info, Wrong Refusal, Redundant Call, Call"
    " Error and Early Termination are wrong actions; the three Param classes are right actions with wrong"
    " arguments. Unreadable Call and Unusable Gold are ours: calls that cannot be read, and gold that admits"
    " no right answer. A better model makes fewer mistakes, not other shares: read this page for the kind of"
    " mistake, the overview for how many.",
    ("errors",),
    "stacked",
)
_LABELS = View(
    "error-labels",
    "Error labels",
    "The twelve labels of the evaluator behind the paper, from which its Table 4 is counted; shares of the wrong tasks.",
    ("error labels",),
    "stacked",
)
_COST = View(
    "cost",
    "Cost",
    "What a task took on average: model calls, tokens as the endpoint reports them, seconds per call as"
    " measured here. Tokens of different models are not the same length, and time depends on the endpoint's"
    " load; steps compare well.",
    ("cost",),
)


_PAGES = (_TYPES, _INTENT, _TRANSITIONS, _ORCHESTRATION, _ERRORS)
VIEWS = {
    "official": (*_PAGES, _COST),
    "fixed": (*_PAGES, _COST),
    "paper": (*_PAGES, _LABELS, _COST),
}
"""The pages of each profile, in order."""
