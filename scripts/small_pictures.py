"""Gives the PNG pictures of the docs 256 colours, which keeps the site and the source archive small.

python scripts/small_pictures.py    # after a script of docs/ made pictures; needs Pillow
"""

import io
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> None:
    for path in sorted(IMAGES.glob("*.png")):
        with Image.open(path) as picture:
            if picture.mode == "P":
                continue
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        written = io.BytesIO()
        few.save(written, "PNG", optimize=True)
        print(f"{path.name}: {path.stat().st_size:,} to {len(written.getvalue()):,} bytes")
        path.write_bytes(written.getvalue())


if __name__ == "__main__":
    main()
