"""Random things that people do in a review, for property tests."""

from hypothesis import strategies as st

from review.made_sets import TEXT, edit, recheck
from wildtool.errors import UsageError
from wildtool_data.pointers import Change
from wildtool_review.history import EditConflict
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import accept_proposal, discard_proposal, propose

Step = tuple[str, str, str, str]
"""What is done, by whom, to which item, with which text."""
PEOPLE = ("ann", "bob", "judge", "owner")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "edit",
                "recheck",
                "approve",
                "reject",
                "discuss",
                "withdraw",
                "resolve",
                "round",
                "close",
                "remark",
                "propose",
                "accept",
                "discard",
                "reopen",
            ]
        ),
        st.sampled_from(PEOPLE),
        st.sampled_from(["s0", "s1", "s2"]),
        st.sampled_from(["x", "y", "/english_tasks/1", "\ud800<b>"]),
    ),
    max_size=25,
)


def step(review: ReviewProject, what: str, who: str, item: str, text: str) -> ReviewProject:
    """Does one thing, if it is possible now."""
    seen = review.item(item).seen_by(who)[1]
    try:
        match what:
            case "edit":
                edit(review, who, item, text, text if text.startswith("/") else "/english_tasks/0")
            case "recheck":
                recheck(review, who, item)
            case "approve" | "discuss":
                review.decide(who, item, seen, what)
            case "reject":
                review.decide(who, item, seen, what, ["privacy"], text)
            case "withdraw":
                review.withdraw(who, item, seen, text)
            case "resolve":
                taken, _ = review.item(item).proposal()
                review.resolve(who, item, review.item(item).digest, "approve", taken)
            case "round":
                review.open_round(who, ["ann", "bob"], share=0.4)
            case "close":
                review.close_round(who, len(review.state.rounds))
            case "propose":
                content = review.item(item).seen_by(who)[0]
                propose(review, who, item, seen, [Change(TEXT, content["english_tasks"][0], text)], "gpt")
            case "accept" | "discard":
                act = accept_proposal if what == "accept" else discard_proposal
                for one in review.item(item).proposals_for(who)[:1]:
                    act(review, who, item, seen, one.content, text)
            case "remark":
                review.remark(who, item, text)
            case _:
                place = review.store
                review._keep_state()  # pyright: ignore[reportPrivateUsage]
                return ReviewProject.open(place)
    except (UsageError, EditConflict):
        pass  # steps are drawn at random, and what is refused may change nothing
    return review
