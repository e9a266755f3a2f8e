"""Recognises texts in which every character counts (code, commands, queries, patterns, formulas), and compares them."""

import json
import re

from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json

_SQL = re.compile(
    r"\s*(?:SELECT\b.*\bFROM\b|INSERT\s+INTO\b|REPLACE\s+INTO\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b|WITH\s+\w+\s+AS\b"
    r"|(?:CREATE|ALTER|DROP|TRUNCATE)\s+(?:TABLE|INDEX|VIEW|DATABASE|USER|SCHEMA)\b|GRANT\b.*\bON\b|SELECT\s+\S+\()",
    re.DOTALL,
)
_LOWER_SQL = re.compile(
    r"\s*(?:select|insert\s+into|update|delete\s+from|(?:create|alter|drop)\s+table)\b"
    r"(?=.*\b(?:from|values|set|table)\b).*(?:[*;]|\bwhere\b.*[=<>]|\bset\b.*=)",
    re.DOTALL | re.IGNORECASE,
)
_COMMANDS = (
    "git|docker|kubectl|npm|npx|pip3?|apt-get|sudo|chmod|chown|mkdir|rmdir|grep|systemctl|ssh|scp|rsync|ls|rm|cp|mv|psql"
    "|mysql|awk|sed|conda|terraform|xargs|crontab|journalctl|ffmpeg|tar|curl|wget"
)
_COMMAND_OF_FILE = (
    "cat|cd|python3?|node|bash|sh|touch|head|tail|less|vim?|nano|make|java|javac|gcc|go|source|open|echo|find"
)
_SHELL = re.compile(
    rf"(?:\$ )?(?:(?:{_COMMANDS})(?: \S.*)?"  # a command that is no English word
    r"|(?:\w+=\S+ )*[a-z][\w.+-]*(?: \S+)*? --?[A-Za-z][\w-]*(?:[ =].*)?"  # any command with an option
    rf"|(?:{_COMMAND_OF_FILE}) (?:\S+ )*(?:\S*/\S*|\.\.?|\S+\.\w{{1,4}}|\$\w+)(?: .*)?"
    r"|[a-z][\w.-]*(?: [^\s|&]+)* ?(?:\|\||&&|>>?|2>&1) ?\S.*)",
    re.DOTALL,
)
_PATTERN = re.compile(
    r"\\[dDwWsSbB.(\[{+*?|^$)]|\[\^?[^\]\s]{1,40}\][+*?{$]|\[[^\]\s]-[^\]\s]|\A\^|[^\d\s]\$\Z|\(\?[:P=!<]|\.[*+]"
    r"|\((?:[^\s()|]+\|)+[^\s()|]+\)|\{\d*,?\d+\}"
)
_PROGRAM = re.compile(
    r"[A-Za-z_$][\w.$\[\]'\"]*(?:\s*,\s*[A-Za-z_]\w*)*\s*(?:[-+*/%|&^!<>]|//|:)?={1,3}\s*\S"  # assigned, or compared
    r"|(?:[a-z_]\w*|\w+(?:\.\w+)+)\((?!e?s\)).*\)\s*;?\Z"  # a call, but not item(s)
    r"|(?:async )?def \w+\(|class \w+[:({]|lambda\b.*:|from [\w.]+ import \S|import (?:\w+(?:\.\w+)+|[\w.]+ as \w)"
    r"|(?:if|elif|while|for|with|try|else)\b[^\n]*:\s*(?:\n|\w+\(|return\b|pass\b)|[\[({].*\bfor \w+ in .*[\])}]\Z"
    r"|(?:let|const|var) \w+ ?=|public (?:static|class|void|final)\b|(?:static )?void \w+\(|function\b ?\w*\(|[^\n]*=>"
    r"|#include|</?[a-z]\w*[^<>]*>|[^\n]*;\s*\n",
    re.DOTALL,
)
_OPERAND = r"(?>(?:sin|cos|tan|log|ln|sqrt|exp|abs|max|min|pi|\d+(?:\.\d+)?[a-z]?|[A-Za-z]\d?)(?![A-Za-z\d]))"
_FORMULA = re.compile(
    r"=[A-Z]+[\d(].*|(?=.*(?:[*^=]| \+ |\([^)]*[-+*/]))"
    rf"[-+(\s]*+{_OPERAND}(?:[-+*/^=<>()!\s]++{_OPERAND})+[)!\s]*+"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]\w")
_OPERATORS = re.compile(r"\s*([-+*/^=<>(),;])\s*")
_FILE = re.compile(r"[^\n?!]*[^\s/\\][/\\][^\n?!]*[\w)]\.[A-Za-z]\w{0,4}")

_DECLARED = re.compile(
    r"\bsql\b|\b(?:shell|bash|terminal|command[ _-]?line|powershell|console)\b|\bcmd\b|regular expression|\bregexp?\b"
    r"|\bcommands? (?:to|that|which)\b.*\b(?:server|machine|host|container)"
    r"|(?:python|javascript|typescript|java|source|program|c\+\+)[ _]?(?:source|code|script|program|snippet)"
    r"|\b(?:code|script|program|snippet|source)\b.*\b(?:execut|interpret|compil|lint|evaluat|run|debug|check)"
    r"|\b(?:execut|interpret|compil|lint|debug)\w*\b.*\b(?:code|script|program|snippet)\b"
    r"|\b(?:as|in|valid|a) json\b|json[ _](?:text|string|body|payload|document|object)|\bjson\b(?=:)"
    r"|(?:mathematical|arithmetic|math|algebraic|boolean|logical) (?:expression|formula)|\bequation\b"
    r"|expression to evaluate|formula\b.*\b(?:cell|sheet)|\b(?:x|json)path\b|css selector|\bcron\b|\bglob\b|source_text"
    r"|(?:file|folder|directory)[ _]?path|path (?:of|to) (?:the |a )?(?:file|folder|directory)|shell_|sql_",
    re.IGNORECASE,
)
_SUGGESTED = re.compile(
    r"command|query|(?<!de)script|code|pattern|path|file|expression|program|statement|formula|function|template|selector|html"
    r"|xml|yaml|config|payload|body|snippet|filter|condition",
    re.IGNORECASE,
)
_MARK = re.compile(r"[{}\[\]|\\^*=;<>]|(?:^|\s)--?[A-Za-z]|\w\(\S")
_PROSE = re.compile(r"[A-Z][a-z]+(?:[ -][A-Za-z]+)*[.!?]?|[A-Za-z]+(?: [a-z]+){3,}[.!?]?")
"""Words alone: a capital first, or at least four."""


_READ_CHARACTERS = 5_000
"""A text is recognised by its start."""


def is_code(text: str, use: str = "") -> bool:
    """Whether a text is code, a command, a query, a pattern or a formula, by its shape or by what it is used for.

    Args:
        use: name and description of the parameter that the text is for.
    """
    text = text.strip()[:_READ_CHARACTERS]
    if len(text) < 2:
        return False
    if _has_code_shape(text):
        return True
    if _DECLARED.search(use):
        return not _PROSE.fullmatch(text)
    return bool(_SUGGESTED.search(use) and (_MARK.search(text) or _FILE.fullmatch(text)))


def _has_code_shape(text: str) -> bool:
    return (
        _json_form(text) is not None
        or any(form.match(text) for form in (_SQL, _LOWER_SQL, _PROGRAM))
        or any(form.fullmatch(text) for form in (_SHELL, _FORMULA))
        or _PATTERN.search(text) is not None
    )


def same_code(gold: str, predicted: str) -> bool:
    """Whether two texts of code are equal but for outer blanks and line ends; JSON and formulas but for their blanks."""
    gold, predicted = ("\n".join(_bare(text.strip()).splitlines()) for text in (gold, predicted))
    if gold == predicted:
        return True
    if (form := _json_form(gold)) is not None:
        return form == _json_form(predicted)
    short = max(len(gold), len(predicted)) <= _READ_CHARACTERS
    if short and not gold.startswith("=") and _FORMULA.fullmatch(gold):
        return _OPERATORS.sub(r"\1", gold) == _OPERATORS.sub(r"\1", predicted)
    return False


def _bare(text: str) -> str:
    """A single word without backticks around it; a path without its last slash."""
    if " " in text or len(text) < 2:
        return text
    word = text[1:-1] if text[0] == text[-1] == "`" else text
    if _DRIVE.match(word):
        return word.replace("\\", "/")
    return word.rstrip("/") or word


def _json_form(text: str) -> str | None:
    """The canonical form of a JSON object or array; None for any other text."""
    if text[:1] + text[-1:] not in ("{}", "[]"):
        return None
    try:
        return json.dumps(read_bounded_json(text), sort_keys=True)
    except ArgumentsError:
        return None
