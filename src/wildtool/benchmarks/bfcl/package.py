"""The published package with BFCL's questions, answers, texts and simulated classes: one for each version of the data."""

from collections.abc import Mapping
from pathlib import Path

from wildtool.data.packages import PinnedWheel
from wildtool.data.pinned import official_folder

PACKAGES: Mapping[str, PinnedWheel] = {
    "v4": PinnedWheel(
        "bfcl-eval", "2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
    ),
    "v3": PinnedWheel(
        "bfcl-eval", "2025.6.8", "f93fee3a66d33f8ea09e5174b4ba72aa80732b31506be1043da8ffb23c299cc3"
    ),
}
"""By version of the data: the last releases with them; that for v3 has the data of 26 April 2025."""
PROMPTS_DIGEST = PACKAGES["v4"].sha256
"""The digest of what holds the texts that are sent."""


def package_file(version: str) -> Path:
    """Where the package for a version of the data is kept once pulled."""
    return official_folder("bfcl") / PACKAGES[version].file
