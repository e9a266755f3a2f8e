"""Letters that look Latin and are not: a text written with them is read as it looks."""

import re
import unicodedata

from wildtool.training.tokens import word_tokens

# From Unicode's confusables.txt: letters and digits of living scripts whose look-alike is one ASCII character, unless
# NFKC reads them already. Besides them, small letters that Unicode takes for small capitals, such as Cyrillic в, к and т.
_LOOKALIKES = {
    "2": "\u01a7\u03e8\ua644\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab",
    "4": "\u13ce",
    "5": "\u01bc",
    "6": "\u0431\u13ee\u2cd2",
    "8": "\u0222\u0223",
    "9": "\u2cca\ua76e",
    "a": "\u0251\u0391\u03b1\u0410\u0430\u13aa\ua4ee",
    "b": "\u0184\u0392\u03b2\u0412\u042c\u0432\u13cf\u13f4\ua4d0\ua7b4",
    "c": "\u0421\u0441\u13df\u1d04\u2ca4\u2ca5\ua4da\uabaf",
    "d": "\u0501\u13a0\u13e7\ua4d2\ua4d3",
    "e": "\u0395\u03b5\u0415\u0435\u04bd\u13ac\ua4f0\uab32",
    "f": "\u03dc\u0584\u1e9d\ua4dd\ua798\ua799\uab35",
    "g": "\u018d\u0261\u050c\u0581\u13c0\u13f3\u1d83\ua4d6",
    "h": "\u0397\u041d\u043d\u04bb\u0570\u13bb\u13c2\u2c8e\ua4e7",
    "i": "\u0131\u0196\u0269\u026a\u0399\u03b9\u0406\u0456\u04c0\u04cf\u13a5\u2c92\ua4f2\ua647\uab75",
    "j": "\u037f\u03f3\u0408\u0458\u13ab\ua4d9\ua7b2",
    "k": "\u0138\u039a\u03ba\u041a\u043a\u13e6\u2c94\ua4d7",
    "l": "\u01c0\u13de\u2cd0\ua4e1",
    "m": "\u039c\u03fa\u041c\u043c\u13b7\u2c98\ua4df",
    "n": "\u039d\u03b7\u043f\u0578\u057c\u2c9a\ua4e0",
    "o": "\u039f\u03bf\u03c3\u041e\u043e\u0555\u0585\u1d0f\u1d11\u2c9e\u2c9f\ua4f3\uab3d",
    "p": "\u03a1\u03c1\u0420\u0440\u13e2\u2ca2\u2ca3\ua4d1",
    "q": "\u051b\u0563\u0566",
    "r": "\u01a6\u0433\u13a1\u13d2\u1d26\u2c85\ua4e3\uab47\uab48\uab81",
    "s": "\u01bd\u0405\u0455\u054f\u13d5\u13da\ua4e2\ua731\uabaa",
    "t": "\u03a4\u03c4\u0422\u0442\u13a2\u2ca6\ua4d4",
    "u": "\u028b\u03bc\u03c5\u0438\u054d\u057d\u1d1c\ua4f4\ua79f\uab4e\uab52",
    "v": "\u03bd\u0474\u0475\u13d9\u1d20\ua4e6\uaba9",
    "w": "\u026f\u03c9\u0448\u0461\u051c\u051d\u0561\u13b3\u13d4\u1d21\ua4ea\uab83",
    "x": "\u03a7\u03c7\u0425\u0445\u2cac\ua4eb\ua7b3",
    "y": "\u0263\u028f\u03a5\u03b3\u0423\u0443\u04ae\u04af\u13a9\u13bd\u1d8c\u1eff\u2ca8\ua4ec\uab5a",
    "z": "\u0396\u03b6\u13c3\u1d22\ua4dc\uab93",
}
_AS_SEEN = {ord(letter): latin for latin, letters in _LOOKALIKES.items() for letter in letters}
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
"""Marks above, below and through letters of these scripts."""
_MARK = re.compile(f"[{_MARKS}]")
_LETTERS = "".join(map(chr, _AS_SEEN))
_FOLDED = re.compile(f"[{_MARKS}{_LETTERS}{''.join(c for c in _LETTERS.upper() if not c.isascii())}]")


def token_readings(text: str) -> list[tuple[str, ...]]:
    """The tokens of a text as written, and as it looks where letters of other scripts or marks make that differ."""
    written = tuple(word_tokens(text))
    if text.isascii():
        return [written]
    parts = unicodedata.normalize("NFKD", text)
    if _FOLDED.search(parts) is None:
        return [written]
    # Capitals first: Greek capital eta looks like H, its small letter like n.
    seen = _MARK.sub("", parts).translate(_AS_SEEN).casefold().translate(_AS_SEEN)
    as_seen = tuple(word_tokens(unicodedata.normalize("NFC", seen)))
    return [written] if as_seen == written else [written, as_seen]
