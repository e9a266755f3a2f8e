"""Two sets of tools that together have every kind of parameter and result that templates know."""

from typing import Any


def _tool(name: str, about: str, required: dict[str, Any], returns: Any = None, **optional: Any) -> Any:
    parameters = {"type": "object", "properties": required | optional, "required": list(required)}
    function = {"name": name, "description": about, "parameters": parameters}
    return {"type": "function", "function": function | ({"returns": returns} if returns else {})}


def _text(about: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"description": about} if about else {}), **more}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer"}
FLAG: dict[str, Any] = {"type": "boolean"}
ORDER = _object(
    ["orderId", "state", "total"],
    orderId=_text("The order."),
    state=_text("Where it stands.", enum=["open", "sent_out", "paid"]),
    total={"type": "number", "minimum": 3, "maximum": 9},
    city=_text("Where it goes."),
    price=NUMBER,
    gone={"type": "null"},
    lines={"type": "array", "items": _object(["goods"], goods=_text(), note=_text(), pieces=WHOLE)},
    tags={"type": "array", "items": _text()},
    sizes={"type": "array", "items": {**WHOLE, "minimum": 4, "maximum": 5}},
    buyer=_object([], person=_text(), email=_text(format="email"), flags=_object([], vip=FLAG)),
    **{f"extra{k}": _text() for k in range(9)},
)
SHOP = [
    _tool(
        "searchOrders",
        "Searches orders of a customer.",
        {"customer": _text("Who ordered.")},
        {"type": "array", "items": ORDER},
        limit=WHOLE,
        since=_text(format="date"),
    ),
    _tool("getOrder", "Gets one order.", {"orderId": _text("The order.")}, ORDER),
    _tool(
        "cancelOrder",
        "Cancels an order for good.",
        {"orderId": _text("The order."), "reason": _text("Why, such as 'late', 'broken' or 'lost'.")},
        _object(["ok"], ok=FLAG, refund=_object(["amount"], amount=NUMBER, currency=_text("A currency."))),
    ),
    _tool(
        "createTicket",
        "This endpoint allows you to create a ticket",
        {"title": _text(), "body": _text("A message.")},
        _object(["ticket"], ticket=_object(["id"], id=_text(), url=_text(format="uri"))),
    ),
    _tool(
        "listTickets",
        "Lists tickets",
        {"status": _text(enum=["open", "closed"])},
        _object([], tickets={"type": "array", "items": _object(["id"], id=_text(), age=WHOLE)}),
        page=WHOLE,
    ),
    _tool("closeTicket", "Closes a ticket", {"ticket_id": _text(), "notify": FLAG}),
    _tool(
        "shipParcel",
        "Ships a parcel",
        {
            "address": _text(),
            "phone": _text(),
            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 20},
        },
        _object([], parcel_uuid=_text(format="uuid")),
        when=_text(format="date-time"),
        express=FLAG,
    ),
    _tool("trackParcel", "Tracks a parcel", {"parcel_uuid": _text(format="uuid")}),
    _tool(
        "convertMoney",
        "Converts money",
        {"amount": NUMBER, "currency": _text(), "into_currency": _text("The other currency.")},
        _object([], rate=NUMBER),
    ),
    _tool("ping", "Pings the shop", {}),
]
OFFICE = [
    _tool(
        "addContact",
        "Adds a contact to the address book.",
        {"person": _text(), "email": _text(), "language": _text(), "country": _text()},
        nickname=_text(),
        birthday=_text(),
        website=_text(),
    ),
    _tool(
        "planMeeting",
        "Plans a meeting",
        {
            "slot": _object(["date", "time"], date=_text("Day."), time=_text("Hour."), zone=_text()),
            "attendees": {"type": "array", "items": _text("A person.")},
        },
        rooms={"type": "array", "items": _object(["floor"], floor=WHOLE)},
    ),
    _tool(
        "readServer",
        "Reads a server's state",
        {"ip": _text("Address.", format="ipv4"), "hash": _text("sha256 of it."), "version": _text()},
    ),
    _tool("setLimit", "Sets a limit", {"user_id": WHOLE, "year": WHOLE, "minutes": WHOLE, "budget": NUMBER}),
    _tool(
        "getUser",
        "Finds a user",
        {"username": _text(), "code": _text(pattern="^[A-Z]{2}-[0-9]{3}$")},
        _object(["user_id"], user_id=WHOLE, name=_text()),
    ),
    _tool(
        "locate",
        "Locates a point",
        {
            "coordinates": _text(),
            "country_code": _text("iso 3166 code."),
            "levels": {"type": "array", "items": _text(enum=["low", "high"])},
        },
    ),
    _tool(
        "storeStamp",
        "Stores a stamp",
        {
            "timestamp": _text(),
            "symbol": _text(),
            "topic": _text(),
            "ratio": {"type": "number", "maximum": -3},
            "thing": _text(),
        },
    ),
]
WIDE = [SHOP, OFFICE]
