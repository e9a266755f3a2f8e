"""What a page of a site says, without its frame."""

import re
from html import unescape

from wildtool import __version__


def page_text(html: str) -> str:
    """The texts of a page with its links and titles, a line for each block."""
    _, _, body = html.partition("<main")
    kept = r'(?: (?:href|title|id|data-[\w-]+|hidden|class|download|aria-sort|rowspan|colspan)(?:="[^"]*")?)+'
    body = re.sub(
        rf"<(?:a|button|th|td|tr|svg|section|option|label|p)\b[^>]*?({kept})[^>]*>", r"\n[\1] ", body
    )
    lines = (" ".join(line.split()) for line in unescape(re.sub(r"<[^>]*>", " ", body)).splitlines())
    text = "\n".join(line for line in lines if line)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)", "TIME", text).replace(__version__, "VERSION")
    return re.sub(r"(version of \w+) [\w.+-]+", r"\1 VERSION", text) + "\n"
