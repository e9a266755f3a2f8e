"""An earlier version of an item made the current one again. Nothing is taken out of the log: it is one more edit."""

from wildtool.errors import UsageError
from wildtool.json_codec import as_list
from wildtool_data.pointers import differences
from wildtool_review.history import ItemHistory
from wildtool_review.project import ReviewProject


def restore_version(
    project: ReviewProject, person: str, item: str, base: str, version: str, note: str = ""
) -> ItemHistory:
    """Makes what a person saw before the content again. Tasks are stale as they were then, or as a twin made them since.

    Args: version: digest of the content.

    Raises as `ReviewProject.edit`, and UsageError for a content that the person has not seen.
    """
    history = project.item(item)
    past = [past_version for past_version in history.versions_for(person) if past_version.digest == version]
    if not past:
        raise UsageError("{0} has no such version to restore", item)
    content, end = past[-1].content, past[-1].until
    changes = list(differences(history.seen_by(person)[0], content))
    then = ItemHistory(history.format, [entry for entry in history.entries if entry.n < end])
    since = [entry for entry in history.entries if entry.n >= end and entry.kind == "stale"]
    stale = then.stale_for(person).union(*(as_list(entry.after) for entry in since))
    history = project.edit(person, item, base, changes, note=note or f"as before entry {end}")
    still_stale = [task for task in history.stale_for(person) if task not in stale]
    return project.recheck(person, item, history.seen_by(person)[1], still_stale) if still_stale else history
