"""API-Bank's other tools: look-ups in shipped tables, arithmetic, mail, hotels, and those answered from records."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from wildtool.benchmarks.apibank.tools.state import (
    DAY,
    Tables,
    ToolFunction,
    UnrecordedError,
    given,
    padded_time,
)
from wildtool.toolcall.refusals import RefusedCallError, refuse_if

_TODAY = "2023-03-31"
_FORMULA_TOKEN = re.compile(r"\d+|[-+*/()]")
_ADDRESS = re.compile(r"(?:[a-z0-9]{2,}|[a-z0-9]+[._][a-z0-9]+)@\w+\.\w{2,3}")
_LANGUAGES = {"french": "fr", "spanish": "es"}
"""Names of the languages into which recorded calls translate."""
_BAD_FORMULA = "invalid formula"


def _get_today(tables: Tables) -> Any:
    return _TODAY


def _book_hotel(
    tables: Tables,
    hotel_name: str,
    check_in_time: str,
    check_out_time: str,
    room_count: int,
    adult_count: int,
    child_count: int,
) -> Any:
    start, end = _day(check_in_time), _day(check_out_time)
    is_full = adult_count > 2 and room_count == 1
    refuse_if(is_full, "The number of adults is greater than 2. Two rooms are ordered.")
    orders = tables.own("Hotel")
    for order in orders.values():
        first_day, free = _day(order["check_in_time"]), _day(order["check_out_time"])
        overlap = first_day <= start < free or first_day < end <= free
        refuse_if(order["hotel_name"] == hotel_name and overlap, "The room is not available.")
    key = str(len(orders) + 1)
    orders[key] = {
        "hotel_name": hotel_name,
        "check_in_time": check_in_time,
        "check_out_time": check_out_time,
        "room_count": room_count,
        "adult_count": adult_count,
        "child_count": child_count,
    }
    return key


def _day(text: str) -> datetime:
    return datetime.strptime(text, DAY)


def _send_email(tables: Tables, receiver: str, subject: str, content: str) -> Any:
    refuse_if(not _ADDRESS.fullmatch(receiver.strip()), "Email address of the receiver is invalid.")
    given(subject.strip(), "Subject cannot be empty.")
    given(content.strip(), "Content cannot be empty.")
    return "success"


# Arithmetic ------------------------------------------------------------------------------------------


def _calculator(tables: Tables, formula: str) -> Any:
    text = formula.replace(" ", "")
    tokens = _FORMULA_TOKEN.findall(text) if text.isascii() else []
    signs = set("+-*/")
    refuse_if("".join(tokens) != text or not set(text) & signs or not set(text) - signs, _BAD_FORMULA)
    outer: list[Any] = []
    inner: list[Any] | None = None
    # The original closes the first `(` at the first `)`, so brackets within brackets are invalid.
    for token in tokens:
        if token == "(" and inner is None:
            inner = []
        elif token == ")" and inner is not None:
            outer.append(_evaluated(inner))
            inner = None
        elif token in "()":
            raise RefusedCallError(_BAD_FORMULA)
        else:
            (outer if inner is None else inner).append(float(token) if token.isdigit() else token)
    refuse_if(inner is not None, _BAD_FORMULA)
    return _evaluated(outer)


def _evaluated(parts: Sequence[Any]) -> float:
    """Numbers joined by operators, `*` and `/` first, each from the left. Raises ZeroDivisionError."""
    numbers, operators = parts[::2], parts[1::2]
    well_formed = len(parts) % 2 and all(isinstance(number, float) for number in numbers)
    refuse_if(not well_formed or any(isinstance(operator, float) for operator in operators), _BAD_FORMULA)
    terms = [numbers[0]]
    for operator, number in zip(operators, numbers[1:], strict=True):
        match operator:
            case "*":
                terms[-1] *= number
            case "/":
                terms[-1] /= number
            case "+":
                terms.append(number)
            case _:
                terms.append(-number)
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total


# Look-ups --------------------------------------------------------------------------------------------


def _query_stock(tables: Tables, stock_code: str, date: str) -> Any:
    code, stocks = stock_code.strip().upper(), tables.shipped("Stock")
    given(code, "The stock code cannot be empty.")
    day = padded_time(date)
    refuse_if(code not in stocks, "The stock code does not exist.")
    refuse_if(day not in stocks[code], "The stock price of this date is not maintained.")
    return stocks[code][day]


def month_and_day(date: str) -> str:
    """`04-21` of a date with or without its year. Raises ValueError."""
    try:
        return padded_time(date)[5:]
    except ValueError:
        return f"{datetime.strptime(date.strip(), '%m-%d'):%m-%d}"


def _query_history_today(tables: Tables, date: str) -> Any:
    history, day = tables.shipped("History"), month_and_day(date)
    refuse_if(day not in history, "The date is not in the database.")
    fields = ("Title", "Date", "Description")
    return [", ".join(f"{name}: {event[name].strip()}" for name in fields) for event in history[day]]


def _document_qa(tables: Tables, url: str, question: str) -> Any:
    refuse_if(not question.strip(), "The question is empty.")
    documents = tables.shipped("QuestionAnswering")
    refuse_if(url.strip() not in documents, "The document of this url failed to be processed.")
    # The original looks the question up among objects that hold questions, so it never finds one (Q15).
    return "The question is too difficult to answer."


def _image_caption(tables: Tables, url: str) -> Any:
    place = url.strip()
    refuse_if(not place.endswith((".jpg", ".jpeg", ".png")), "The url should end with .jpg, .jpeg or .png.")
    captions = [image["caption"] for image in tables.shipped("ImageCaptioning") if image["url"] == place]
    refuse_if(not captions, "The image of this url failed to be processed.")
    return captions[0]


def _speech_recognition(tables: Tables, url: str) -> Any:
    place, recordings = url.strip(), tables.shipped("SpeechRecognition")
    refuse_if(not place.endswith(".wav"), "The url should end with .wav.")
    refuse_if(place not in recordings, "The audio of this url failed to be processed.")
    return recordings[place]


def _wiki(tables: Tables, keyword: str) -> Any:
    pages, key = tables.shipped("Wiki"), keyword.replace("_", " ").strip().lower()
    refuse_if(key not in pages, "Keyword not found.")
    return {"url": pages[key]["url"], "summary": pages[key]["summary"]}


# Recorded --------------------------------------------------------------------------------------------


def _dictionary(tables: Tables, keyword: str) -> Any:
    return tables.recorded.answer("Dictionary", {"keyword": keyword})


def _translate(tables: Tables, src: str, src_lang: str | None = None, tgt_lang: str | None = None) -> Any:
    target = (tgt_lang or "en").lower()
    language = next((code for name, code in _LANGUAGES.items() if name in target), target)
    return tables.recorded.answer("Translate", {"src": src, "tgt_lang": language})


def _search_engine(tables: Tables, keyword: str) -> Any:
    return _search(tables, "SearchEngine", keyword=keyword)


def _tool_searcher(tables: Tables, keywords: str) -> Any:
    return _search(tables, "ToolSearcher", keywords=keywords)


def _search(tables: Tables, tool: str, **query: str) -> Any:
    """The recorded answer, else what a search by words finds."""
    try:
        return tables.recorded.answer(tool, query)
    except UnrecordedError:
        tables.searched = True
        return tables.recorded.search(tool, *query.values())


SERVICE_TOOLS: Mapping[str, ToolFunction] = {
    "GetToday": _get_today,
    "BookHotel": _book_hotel,
    "SendEmail": _send_email,
    "Calculator": _calculator,
    "QueryStock": _query_stock,
    "QueryHistoryToday": _query_history_today,
    "DocumentQA": _document_qa,
    "ImageCaption": _image_caption,
    "SpeechRecognition": _speech_recognition,
    "Wiki": _wiki,
    "Dictionary": _dictionary,
    "Translate": _translate,
    "SearchEngine": _search_engine,
    "ToolSearcher": _tool_searcher,
}
