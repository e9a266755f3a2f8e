"""What tools are about, by the words of their own names and descriptions, for data that state no domain.

The 8 domains and 24 sub-domains are those of WildToolBench's Figure 5. The words are ours: the paper does not say how its
tools were sorted. A tool whose words fit two sub-domains alike, or none, is counted as undecided, and never guessed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from wildtool.json_codec import as_object
from wildtool.stats.describe import count_metrics
from wildtool.types import Metric, Tool

UNDECIDED = "undecided"
BY_WORDS = "by the tools' own words"
_NAME_WEIGHT = 3
"""How much more a word of the name says than one of the description."""
_WORDS: Mapping[str, Mapping[str, str]] = {
    "Location": {
        "geographic": "location address map geocode latitude longitude route distance city country place nearby travel"
        " flight hotel airport train trip itinerary gps parking traffic transit bus visa tour",
        "weather": "weather forecast temperature humidity rain wind climate storm precipitation uv snow",
    },
    "Development": {
        "coding": "code git repository commit deploy api debug compile script regex html css package bug branch build"
        " docker lint snippet function",
        "data": "database query sql dataset table csv chart analytics statistics column record aggregate extract"
        " dashboard",
        "financial": "invoice billing payment checkout refund merchant transaction subscription wallet payout",
        "security": "password encrypt decrypt vulnerability malware firewall breach threat authentication token"
        " phishing ssl",
    },
    "Entertainment": {
        "game": "game player match quest level score chess card guild esports tournament pokemon leaderboard",
        "media": "movie film video tv series photo image camera stream episode actor cinema anime picture",
        "music": "music song playlist album artist track concert lyrics podcast audio radio",
        "others": "joke quote trivia horoscope tarot meme comic riddle museum festival exhibition party",
    },
    "Information": {
        "news": "news headline article newspaper press journalist publication report",
        "social": "social post follower tweet friend comment hashtag profile message chat contact email mail community",
        "UGC": "blog forum wiki review rating upload creator channel survey",
    },
    "Lifestyle": {
        "health": "health medical doctor patient medication symptom hospital appointment disease sleep vaccine heart"
        " therapy blood clinic drug",
        "sports": "sport workout fitness exercise team football basketball league run gym training yoga athlete race",
        "food": "food recipe restaurant meal nutrition calorie ingredient menu diet grocery cook coffee cuisine drink",
        "calendar": "calendar event meeting schedule reminder holiday booking reservation agenda alarm",
    },
    "Business": {
        "business": "company customer order product inventory sales employee shipment warehouse supplier project client"
        " marketing crm ecommerce shop store cart price job hiring recruitment lead",
        "finance": "stock currency exchange bank loan investment portfolio market crypto bitcoin fund budget account tax"
        " insurance interest expense credit ledger mortgage dividend",
    },
    "Public": {
        "government": "government law legal court election permit license citizen police passport census legislation vote"
        " regulation municipal",
        "science": "science physics chemistry math planet space star satellite experiment molecule species biology"
        " research astronomy equation genome theorem",
        "unnamed": "",
    },
    "Utilities": {
        "daily": "translate convert unit timer dictionary spell qr note todo task laundry clean light thermostat device"
        " appliance home",
        "system": "file folder disk memory process cpu system backup server network wifi battery settings log directory",
    },
}
_LEXICON: Mapping[str, tuple[str, str]] = {
    word: (domain, sub)
    for domain, parts in _WORDS.items()
    for sub, words in parts.items()
    for word in words.split()
}
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def domain_by_words(tool: Tool) -> tuple[str, str] | None:
    """Domain and sub-domain of a tool by its words; None where none of them is known, or two sub-domains fit alike."""
    function = as_object(tool.get("function")) or tool
    counts: Counter[tuple[str, str]] = Counter()
    for field, weight in (("name", _NAME_WEIGHT), ("description", 1)):
        text = function.get(field)
        for word in set(_words(text if isinstance(text, str) else "")):
            known = _LEXICON.get(word) or _LEXICON.get(word.removesuffix("s"))
            if known is not None:
                counts[known] += weight
    first, *others = counts.most_common(2) or [(None, 0)]
    if others and others[0][1] == first[1]:
        return None
    return first[0]


def domain_metrics(tools: Iterable[Tool]) -> Iterator[Metric]:
    """How many different tools are of each domain and sub-domain by their own words."""
    different = {written_name(tool): tool for tool in tools}
    found = [domain_by_words(tool) for tool in different.values()]
    domains = Counter(UNDECIDED if each is None else each[0] for each in found)
    subs = Counter(UNDECIDED if each is None else ": ".join(each) for each in found)
    yield from count_metrics(f"tools by domain, {BY_WORDS}", domains, list(_WORDS))
    yield from count_metrics(f"tools by sub-domain, {BY_WORDS}", dict(subs.most_common()))


def written_name(tool: Tool) -> str:
    """The name of a tool, in whichever form it is written."""
    return str((as_object(tool.get("function")) or tool).get("name"))


def _words(text: str) -> Iterator[str]:
    for word in _PARTS.findall(text):
        yield word.casefold()
