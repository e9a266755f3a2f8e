"""How well dependency graphs are inferred: precision and recall of edges by kind, on labelled sessions.

Usage: python bench/edges.py [FILE…]   (default: wild-mini)
"""

import sys
from pathlib import Path

from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "generate" / "graph"))

from edge_quality import EdgeQuality, measure_inference


def _row(name: str, quality: EdgeQuality) -> str:
    return (
        f"| {name} | {quality.right} of {quality.inferred} | {quality.precision:.3f} | "
        f"{quality.found} of {quality.labelled} | {quality.recall:.3f} |"
    )


def main(files: list[Path]) -> None:
    """Prints a table for each file."""
    for file in files:
        report = measure_inference(file)
        print(f"\n{file.name}: {report.equal} of {report.graphs} graphs equal\n")
        print(
            "| edges | inferred edges that are labelled | precision | labelled edges that are inferred | recall |"
        )
        print("|---|---|---|---|---|")
        for kind, quality in report.kinds.items():
            print(_row(kind, quality))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or [WILD_MINI_FILE])
