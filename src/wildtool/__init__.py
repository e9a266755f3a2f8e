"""wildtool: measure how well language models use tools when the user talks the way real users do."""

import sys

from wildtool.old_paths import OldPaths

__version__ = "0.2.0"

sys.meta_path.append(OldPaths())
