"""A scripted model behind a server of chat completions that is sound, or has one of the defects of `wildtool check`.

The model makes the calls that a request spells out. A fault changes what the server refuses, replies or streams.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from faults.server import Answer, Call, http

Json = dict[str, Any]


@dataclass
class Made:
    """What the model wrote."""

    content: str | None = None
    reasoning: str | None = None
    calls: list[Json] = field(default_factory=list)
    """id, name, arguments."""
    finish: str = "stop"
    tokens: int = 0
    prompt: int = 0
    usage: Json | None = None
    """Instead of the sound one."""


Refuse = Callable[[Json], Answer | None]
Change = Callable[[Made, Json], None]
Deltas = Callable[[list[Json]], list[Json]]


@dataclass(frozen=True)
class Fault:
    """One planted defect."""

    number: int
    refuse: Refuse = lambda body: None
    change: Change = lambda made, body: None
    """Changes every reply."""
    in_stream: Change = lambda made, body: None
    whole: Change = lambda made, body: None
    deltas: Deltas = lambda deltas: deltas
    """Changes the pieces of calls of a stream."""


def requested(text: str) -> list[tuple[str, Any]]:
    """The calls that a sentence spells out."""
    calls: list[tuple[str, Any]] = []
    for match in re.finditer(r"(\S+) (?:with arguments (?=\{)|without arguments)", text):
        rest = text[match.end() :]
        calls.append((match[1], json.JSONDecoder().raw_decode(rest)[0] if "with " in match[0] else {}))
    return calls


def prompt_size(body: Json) -> int:
    shown = [m.get("content") or m.get("tool_calls") for m in body["messages"]]
    return len(json.dumps([shown, body.get("tools")])) // 4


def written(body: Json) -> Made:
    """What the model writes to a request, without a limit of tokens."""
    text = body["messages"][-1]["content"]
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    choice = body.get("tool_choice")
    made = Made(prompt=prompt_size(body))
    if "Consider the call" in text:
        call = text[text.index("<tool_call>") : text.index("</tool_call>") + 12]
        made.reasoning, made.content = f"The user mentions {call}. It must not be made.", "ready"
        return made
    if body["messages"][-1]["role"] == "tool":
        made.content = f"The result is {text}."
        return made
    if "degrees has it in Oslo? Answer" in text:
        made.content = result_of_first(body["messages"])
        return made
    calls = requested(text)
    if "about the sea" in text:
        calls = [("write_note", {"text": "The sea is wide."})]
    if choice == "none" or not tools:
        calls = []
    elif choice == "required" and not calls:
        calls = [(tools[0], {"room": "den", "level": 1})]
    elif isinstance(choice, dict):
        calls = [(choice["function"]["name"], {"text": "Hello."})]
    if calls and "First write the sentence" in text:
        made.content = "Switching it on."
    if not calls:
        made.content = "I am fine."
    for number, (name, values) in enumerate(calls):
        # Two calls of one reply have different ids; so have those of different replies.
        own = f"call_{abs(hash((text, number))):x}"
        made.calls.append({"id": own, "name": name, "arguments": json.dumps(values, ensure_ascii=False)})
    made.finish = "tool_calls" if calls else "stop"
    return made


def result_of_first(messages: list[Json]) -> str:
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    if not calls:
        return messages[0]["content"].partition("has ")[2].partition(" degrees")[0]
    result = next((m["content"] for m in messages if m.get("tool_call_id") == calls[0]), "")
    return "4" if "degrees" in result else result.partition(" ")[0] or "unknown"


def limited(made: Made, body: Json) -> None:
    """Counts tokens, and cuts what exceeds the limit."""
    made.tokens = (
        3 + sum(8 + len(call["arguments"]) // 2 for call in made.calls) + len(made.content or "") // 4
    )
    most = body.get("max_tokens") or body.get("max_completion_tokens") or 10**9
    if made.tokens > most:
        made.tokens, made.finish = most, "length"
        if made.calls:
            call = made.calls[0]
            made.calls = [{**call, "arguments": call["arguments"][: 2 * most]}] if most > 8 else []
        else:
            made.content = (made.content or "")[: 4 * most]


class Endpoint:
    """A behaviour of `FaultServer`."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault or Fault(-1)

    def __call__(self, call: Call) -> Answer:
        body = call.body
        if any(message["role"] == "nobody" for message in body["messages"]):
            return self.fault.refuse(body) or http_error(400, "unknown role")
        if (refusal := self.fault.refuse(body)) is not None:
            return refusal
        made = written(body)
        limited(made, body)
        self.fault.change(made, body)
        if body.get("stream"):
            self.fault.in_stream(made, body)
            return Answer(http(200, self._events(made, body), kind="text/event-stream"))
        self.fault.whole(made, body)
        return Answer(http(200, json.dumps(self.completion(made)).encode()))

    def _usage(self, made: Made) -> Json | None:
        total = made.prompt + made.tokens
        counts = {"prompt_tokens": made.prompt, "completion_tokens": made.tokens, "total_tokens": total}
        return made.usage if made.usage is not None else counts

    def completion(self, made: Made) -> Json:
        message: Json = {"role": "assistant", "content": made.content}
        if made.reasoning:
            message["reasoning_content"] = made.reasoning
        if made.calls:
            message["tool_calls"] = [self._call(call) for call in made.calls]
        choice = {"index": 0, "message": message, "finish_reason": made.finish}
        return {"object": "chat.completion", "choices": [choice], "usage": self._usage(made)}

    def _call(self, call: Json) -> Json:
        function = {name: call[name] for name in ("name", "arguments") if name in call}
        return {**({"id": call["id"]} if "id" in call else {}), "type": "function", "function": function}

    def _events(self, made: Made, body: Json) -> bytes:
        deltas: list[Json] = []
        for text in (made.content or "",):
            deltas += [{"content": text[at : at + 9]} for at in range(0, len(text), 9)]
        if made.reasoning:
            deltas.insert(0, {"reasoning_content": made.reasoning})
        pieces: list[Json] = []
        for index, call in enumerate(made.calls):
            arguments = call.get("arguments")
            head = {"index": index, **self._call({**call, "arguments": ""})}
            pieces.append(head)
            if isinstance(arguments, str):
                for at in range(0, len(arguments), 7):
                    pieces.append({"index": index, "function": {"arguments": arguments[at : at + 7]}})
            else:
                head["function"]["arguments"] = arguments
        deltas += [{"tool_calls": [piece]} for piece in self.fault.deltas(pieces)]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": made.finish})
        chunks: list[Json] = [{"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
        if body.get("stream_options", {}).get("include_usage") and (usage := self._usage(made)):
            chunks.append({"object": "chat.completion.chunk", "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()


def http_error(status: int, message: str) -> Answer:
    return Answer(http(status, json.dumps({"error": {"message": message}}).encode()))


# Faults ----------------------------------------------------------------------------------------------


def each_call(edit: Callable[[Json], None]) -> Change:
    def change(made: Made, body: Json) -> None:
        for call in made.calls:
            edit(call)

    return change


def _set(name: str, value: Any) -> Change:
    return each_call(lambda call: call.update({name: value}))


def _drop(name: str) -> Change:
    return each_call(lambda call: call.pop(name, None) and None)


def _drop_empty(made: Made, body: Json) -> None:
    made.calls = [call for call in made.calls if call["arguments"] != "{}"]


def _empty_after_empty(made: Made, body: Json) -> None:
    empty = False
    for call in made.calls:
        if empty:
            call["arguments"] = ""
        empty = empty or call["arguments"] == "{}"


def _second_empty(made: Made, body: Json) -> None:
    if len(made.calls) == 2:
        made.calls[1]["arguments"] = ""


def _second_gone(made: Made, body: Json) -> None:
    if len(made.calls) == 2:
        del made.calls[1]


def _one_index(deltas: list[Json]) -> list[Json]:
    return [{**delta, "index": 0} for delta in deltas]


def _one_index_no_ids(deltas: list[Json]) -> list[Json]:
    """The arguments of all calls under the name of the first."""
    heads = 0
    merged: list[Json] = []
    for delta in deltas:
        heads += "id" in delta
        if "id" in delta and heads > 1:
            continue
        merged.append({**delta, "index": 0})
    return merged


def _no_index(deltas: list[Json]) -> list[Json]:
    return [{name: value for name, value in delta.items() if name != "index"} for delta in deltas]


def _late_ids(deltas: list[Json]) -> list[Json]:
    late: list[Json] = []
    for delta in deltas:
        late.append({name: value for name, value in delta.items() if name != "id"})
        if "id" in delta:
            late.append({"index": delta["index"], "id": delta["id"], "function": {"arguments": ""}})
    return late


def _same_ids(made: Made, body: Json) -> None:
    for call in made.calls:
        call["id"] = "call_0"


def _finish(reason: str) -> Change:
    def change(made: Made, body: Json) -> None:
        if made.calls and made.finish != "length":
            made.finish = reason

    return change


def _no_call_comes(made: Made, body: Json) -> None:
    made.calls = []


def _no_text_beside(made: Made, body: Json) -> None:
    if made.calls:
        made.content = None


def _empty_text(made: Made, body: Json) -> None:
    for call in made.calls:
        call["arguments"] = ""


def _as_object(made: Made, body: Json) -> None:
    if made.finish != "length":
        for call in made.calls:
            call["arguments"] = json.loads(call["arguments"])


def _more(text: str) -> Change:
    def change(made: Made, body: Json) -> None:
        if made.finish != "length":
            for call in made.calls:
                if call["arguments"] != "{}":
                    call["arguments"] += text

    return change


def _less(made: Made, body: Json) -> None:
    for call in made.calls:
        call["arguments"] = call["arguments"][:-1]


def _numbers_as_text(made: Made, body: Json) -> None:
    for call in made.calls:
        if call["name"] == "measure":
            values = json.loads(call["arguments"])
            call["arguments"] = json.dumps({name: json.dumps(value) for name, value in values.items()})


def _swallow(made: Made, body: Json) -> None:
    if made.calls and made.calls[0]["arguments"] == "{}":
        del made.calls[1:]


def _optional_malformed(made: Made, body: Json) -> None:
    for call in made.calls:
        if call["name"] == "search":
            call["arguments"] = '{"query": "tea", "limit": , "page": 2}'


def _one_call(made: Made, body: Json) -> None:
    del made.calls[1:]


def _one_call_unless_allowed(made: Made, body: Json) -> None:
    if not body.get("parallel_tool_calls"):
        del made.calls[1:]


def _history_calls(body: Json) -> list[str]:
    return [call["function"]["arguments"] for m in body["messages"] for call in m.get("tool_calls", ())]


def _malformed_history(body: Json) -> Answer | None:
    try:
        for text in _history_calls(body):
            json.loads(text)
    except ValueError:
        return http_error(500, "Expecting ',' delimiter")
    return None


def _ignore_none(made: Made, body: Json) -> None:
    if body.get("tool_choice") == "none":
        made.content = None
        made.finish = "tool_calls"
        calls = requested(body["messages"][-1]["content"])
        made.calls = [{"id": "call_1", "name": n, "arguments": json.dumps(v)} for n, v in calls]


def _ignore_required(made: Made, body: Json) -> None:
    if body.get("tool_choice") == "required":
        made.content, made.calls, made.finish = "I am fine.", [], "stop"


def _ignore_named(made: Made, body: Json) -> None:
    if isinstance(body.get("tool_choice"), dict):
        made.calls[0] |= {"name": "set_lamp", "arguments": '{"room": "den", "level": 1}'}


def _refuse_named(body: Json) -> Answer | None:
    return (
        http_error(400, "tool_choice must be a text") if isinstance(body.get("tool_choice"), dict) else None
    )


def _hide_cut(made: Made, body: Json) -> None:
    if made.finish == "length" and made.calls:
        made.finish = "tool_calls"
        made.calls[0]["arguments"] += '"}'


def _hide_cut_as_stop(made: Made, body: Json) -> None:
    if made.finish == "length" and made.calls:
        made.finish = "stop"


def _as_text(form: str) -> Change:
    def change(made: Made, body: Json) -> None:
        if made.calls and body.get("tool_choice") is None:
            texts = [form % (call["name"], call["arguments"]) for call in made.calls]
            made.content, made.calls, made.finish = "\n".join(texts), [], "stop"

    return change


def _leak(made: Made, body: Json) -> None:
    if made.reasoning:
        made.content, made.reasoning = f"<think>{made.reasoning}</think>{made.content}", None


def _make_considered(made: Made, body: Json) -> None:
    if made.reasoning:
        made.content, made.finish = None, "tool_calls"
        made.calls = [{"id": "call_1", "name": "set_lamp", "arguments": '{"room": "attic", "level": 5}'}]


def _refuse_schema(word: str) -> Refuse:
    def refuse(body: Json) -> Answer | None:
        return http_error(400, f"unsupported: {word}") if word in json.dumps(body.get("tools", "")) else None

    return refuse


def _refuse_bare(body: Json) -> Answer | None:
    bare = any("properties" not in t["function"]["parameters"] for t in body.get("tools", ()))
    return http_error(400, "properties is required") if bare else None


def _drop_feature(feature: str) -> Change:
    def change(made: Made, body: Json) -> None:
        tools = json.loads(json.dumps(body.get("tools", [])))
        for tool in tools:
            tool["function"]["parameters"].get("properties", {}).get("color", {}).pop(feature, None)
        made.prompt = prompt_size({**body, "tools": tools})

    return change


def _refuse_name(pattern: str) -> Refuse:
    def refuse(body: Json) -> Answer | None:
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        return http_error(400, "invalid name") if any(re.search(pattern, name) for name in names) else None

    return refuse


def _rename(made: Made, body: Json) -> None:
    for call in made.calls:
        call["name"] = call["name"].replace(".", "_")[:64]


def _escape_twice(made: Made, body: Json) -> None:
    for call in made.calls:
        if made.finish != "length":
            values = json.loads(call["arguments"])
            call["arguments"] = json.dumps(
                {
                    k: v.encode("ascii", "backslashreplace").decode() if isinstance(v, str) else v
                    for k, v in values.items()
                }
            )


def _replaced(made: Made, body: Json) -> None:
    for call in made.calls:
        call["arguments"] = call["arguments"].replace("東", "\ufffd\ufffd\ufffd")


def _latin(made: Made, body: Json) -> None:
    for call in made.calls:
        call["arguments"] = call["arguments"].encode().decode("latin-1")


def _refuse_swapped(body: Json) -> Answer | None:
    calls = [call["id"] for m in body["messages"] for call in m.get("tool_calls", ())]
    results = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    return http_error(400, "unexpected tool message") if calls != results else None


def _refuse_result(matches: Callable[[str], bool]) -> Refuse:
    def refuse(body: Json) -> Answer | None:
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        return http_error(500, "template") if any(map(matches, results)) else None

    return refuse


def _read_in_order(made: Made, body: Json) -> None:
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    if len(results) == 2:
        made.content = results[0]


def _forget(part: str) -> Change:
    def change(made: Made, body: Json) -> None:
        if len([m for m in body["messages"] if m["role"] == "user"]) > 1:
            messages = [m for m in body["messages"] if part != "system" or m["role"] != "system"]
            made.prompt = prompt_size(
                {"messages": messages, "tools": body.get("tools") if part == "system" else None}
            )

    return change


def _usage(**counts: int) -> Change:
    def change(made: Made, body: Json) -> None:
        made.usage = dict(counts)

    return change


class CachedTwice:
    """Adds cached tokens to those of the prompt, from the second time on."""

    def __init__(self) -> None:
        self.requests: set[str] = set()

    def __call__(self, made: Made, body: Json) -> None:
        if (request := json.dumps(body)) in self.requests:
            prompt, cached = 2 * made.prompt, made.prompt
            total = prompt + made.tokens
            counts = {"prompt_tokens": prompt, "completion_tokens": made.tokens, "total_tokens": total}
            made.usage = {**counts, "prompt_tokens_details": {"cached_tokens": cached}}
        self.requests.add(request)


class OthersCalls:
    """Now and then the calls of the loaded request before."""

    def __init__(self) -> None:
        self.before: list[Json] = []
        self.count = 0

    def __call__(self, made: Made, body: Json) -> None:
        if made.calls and "room 1" in made.calls[0]["arguments"]:
            self.count += 1
            own = [dict(call) for call in made.calls]
            if self.before and not self.count % 3:
                made.calls = self.before
            self.before = own


class Varying:
    """Other words each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, made: Made, body: Json) -> None:
        self.count += 1
        for call in made.calls:
            call["arguments"] = call["arguments"].replace("is wide", f"is {self.count} wide")


def _error_in_200(body: Json) -> Answer | None:
    if any(message["role"] == "nobody" for message in body["messages"]):
        return Answer(http(200, b'{"error":{"message":"upstream: unknown role"}}'))
    return None


def _error_in_stream(body: Json) -> Answer | None:
    if body.get("stream"):
        return Answer(
            http(200, b'data: {"error":{"message":"upstream broke"}}\n\n', kind="text/event-stream")
        )
    return None


def _cut_long(made: Made, body: Json) -> None:
    for call in made.calls:
        if len(call["arguments"]) > 700:
            call["arguments"] = call["arguments"][:700]


def _cut_list(made: Made, body: Json) -> None:
    for call in made.calls:
        if call["name"] == "store" and "numbers" in call["arguments"] and made.finish != "length":
            call["arguments"] = json.dumps({"numbers": json.loads(call["arguments"])["numbers"][:100]})


def _refuse_long(body: Json) -> Answer | None:
    return http_error(413, "too long") if any(len(text) > 4000 for text in _history_calls(body)) else None


def _deep(body: Json) -> Answer | None:
    return http_error(500, "recursion") if json.dumps(body.get("tools", "")).count('"in"') > 20 else None


def _has_calls(message: Json) -> bool:
    return bool(message.get("tool_calls"))


def _refuse_if(words: str, found: Callable[[Json], bool], status: int = 400) -> Refuse:
    return lambda body: http_error(status, words) if found(body) else None


def _roles(body: Json) -> list[str]:
    return ["calls" if _has_calls(message) else message["role"] for message in body["messages"]]


def _in_a_row(first: str, second: str) -> Callable[[Json], bool]:
    return lambda body: (first, second) in pairwise(_roles(body))


def _beside_calls(holds: Callable[[Any], bool]) -> Callable[[Json], bool]:
    return lambda body: any(_has_calls(m) and holds(m.get("content")) for m in body["messages"])


def _long_ids(body: Json) -> bool:
    ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    return any(not re.fullmatch(r"\w{9}", id_) for id_ in ids)


def _without(key: str, kinds: Sequence[str]) -> Callable[[Json], bool]:
    """Whether a reply of one of the kinds lacks a key."""
    return lambda body: any(
        role in kinds and key not in message
        for role, message in zip(_roles(body), body["messages"], strict=True)
    )


def _unsigned(body: Json) -> bool:
    calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
    return any("google" not in call.get("extra_content", {}) for call in calls)


def _tools_of(body: Json) -> str:
    return json.dumps(body.get("tools") or [])


HISTORIES: dict[str, Refuse] = {
    "role tool": _refuse_if("unsupported role tool", lambda body: "tool" in _roles(body), 500),
    "two calls": _refuse_if(
        "only one call", lambda b: any(len(m.get("tool_calls", ())) > 1 for m in b["messages"]), 500
    ),
    "two results": _refuse_if("roles must alternate", _in_a_row("tool", "tool")),
    "null content": _refuse_if("none is not allowed", _beside_calls(lambda content: content is None)),
    "empty content": _refuse_if("text must not be empty", _beside_calls(lambda content: content == "")),
    "text beside": _refuse_if("either text or calls", _beside_calls(bool)),
    "last not user": _refuse_if("last must be user", lambda body: _roles(body)[-1] != "user"),
    "last tool": _refuse_if("last must not be tool", lambda body: _roles(body)[-1] == "tool"),
    "user after result": _refuse_if("expected assistant", _in_a_row("tool", "user")),
    "text after result": _refuse_if("expected user", _in_a_row("tool", "assistant")),
    "second step": _refuse_if("expected text", _in_a_row("tool", "calls")),
    "system": _refuse_if("no system role", lambda body: "system" in _roles(body)),
    "late system": _refuse_if("system must be first", lambda body: "system" in _roles(body)[1:]),
    "ids": _refuse_if("ids have 9 letters", _long_ids),
}
"""Sound histories that a server refuses, by name."""


def _repeat_head(**more: Any) -> Deltas:
    """Each piece of a call with its name, and more."""

    def deltas(pieces: list[Json]) -> list[Json]:
        names = {piece["index"]: piece["function"]["name"] for piece in pieces if "name" in piece["function"]}
        return [
            piece
            if "name" in piece["function"]
            else {**piece, **more, "function": {**piece["function"], "name": names[piece["index"]]}}
            for piece in pieces
        ]

    return deltas


def _index_as_text(deltas: list[Json]) -> list[Json]:
    return [{**delta, "index": str(delta["index"])} for delta in deltas]


def _encode_twice(made: Made, body: Json) -> None:
    for call in made.calls:
        if made.finish != "length":
            call["arguments"] = json.dumps(call["arguments"])


def _send_twice(made: Made, body: Json) -> None:
    made.calls += [{**call, "id": f"{call['id']}again"} for call in made.calls]


def _as_text_too(made: Made, body: Json) -> None:
    if made.calls:
        texts = [
            f'<tool_call>{{"name": "{call["name"]}", "arguments": {call["arguments"]}}}</tool_call>'
            for call in made.calls
        ]
        made.content = "\n".join(texts)


def _into_reasoning(made: Made, body: Json) -> None:
    if made.calls:
        _as_text_too(made, body)
        made.reasoning, made.content, made.calls, made.finish = made.content, None, [], "stop"


def _bare_arguments(made: Made, body: Json) -> None:
    if made.calls and made.finish != "length":
        made.content, made.calls, made.finish = f"I call it.{made.calls[0]['arguments']}", [], "stop"


def _swallow_all(made: Made, body: Json) -> None:
    if made.calls:
        made.content, made.calls, made.finish, made.tokens = None, [], "stop", 77


def _call_again(made: Made, body: Json) -> None:
    if body["messages"][-1]["role"] == "tool":
        call = next(m for m in reversed(body["messages"]) if _has_calls(m))["tool_calls"][0]
        made.calls = [{"id": "call_again", **call["function"]}]
        made.content, made.finish = None, "tool_calls"


def _forget_results(made: Made, body: Json) -> None:
    if any(message["role"] == "tool" for message in body["messages"]):
        made.content = "I do not know."


def _uncounted_results(last_only: bool) -> Change:
    def change(made: Made, body: Json) -> None:
        messages = body["messages"]
        dropped = [m for m in messages if m["role"] == "tool" and (m is messages[-1]) == last_only]
        made.prompt -= sum(len(m["content"]) // 4 for m in dropped)

    return change


def _constant_prompt(made: Made, body: Json) -> None:
    made.prompt = 30


def faults() -> dict[str, Fault]:
    """Every planted defect by name. Faults with a memory are made fresh."""
    both = (("", "change"), (", streamed", "in_stream"), (", whole", "whole"))

    def each(
        number: int, name: str, edit: Change, forms: Sequence[tuple[str, str]] = both
    ) -> dict[str, Fault]:
        return {
            f"{number} {name}{suffix}": replace(Fault(number), **{place: edit}) for suffix, place in forms
        }

    streamed = (("", "in_stream"),)
    return {
        **each(1, "call dropped", _drop_empty, streamed),
        **each(2, "later arguments empty", _empty_after_empty, streamed),
        **each(3, "second call empty", _second_empty, streamed),
        **each(3, "second call gone", _second_gone, streamed),
        "4 one index": Fault(4, deltas=_one_index),
        "4 merged": Fault(4, deltas=_one_index_no_ids),
        "5 no index": Fault(5, deltas=_no_index),
        **each(6, "no ids", _drop("id")),
        **each(6, "same ids", _same_ids),
        "6 late ids": Fault(6, deltas=_late_ids),
        **each(7, "stop", _finish("stop")),
        **each(7, "end_turn", _finish("end_turn")),
        **each(8, "no call", _no_call_comes),
        **each(9, "text dropped", _no_text_beside, both[1:]),
        **each(10, "null", _set("arguments", None)),
        **each(10, "missing", _drop("arguments"), both[2:]),
        **each(10, "object", _as_object),
        **each(10, "empty", _empty_text, both[2:]),
        **each(11, "too much", _more("}")),
        **each(11, "too little", _less),
        **each(12, "texts", _numbers_as_text, streamed),
        **each(13, "empty", _empty_text, streamed),
        **each(14, "swallowed", _swallow),
        **each(15, "malformed", _optional_malformed),
        **each(16, "one", _one_call, (both[0], both[2])),
        **each(16, "one unless allowed", _one_call_unless_allowed, both[:1]),
        "17 refused": Fault(17, refuse=_malformed_history),
        **each(18, "none", _ignore_none),
        **each(18, "required", _ignore_required),
        **each(18, "named", _ignore_named),
        "18 refused": Fault(18, refuse=_refuse_named),
        **each(19, "closed", _hide_cut),
        **each(19, "stop", _hide_cut_as_stop),
        **each(20, "hermes", _as_text('<tool_call>{"name": "%s", "arguments": %s}</tool_call>')),
        **each(20, "fence", _as_text('```json\n{"name": "%s", "arguments": %s}\n```')),
        **each(20, "mistral", _as_text("[TOOL_CALLS]%s%s")),
        **each(21, "leak", _leak),
        **each(21, "considered", _make_considered),
        **{
            f"22 {word} refused": Fault(22, refuse=_refuse_schema(f'"{word}"'))
            for word in ("oneOf", "anyOf", "$ref", "enum", "pattern")
        },
        "22 array refused": Fault(22, refuse=_refuse_schema('"items": {"type": "object"')),
        "22 nullable refused": Fault(22, refuse=_refuse_schema('["string", "null"]')),
        "22 nested refused": Fault(22, refuse=_refuse_schema('"inner"')),
        "22 no properties": Fault(22, refuse=_refuse_bare),
        **{
            f"22 {word} dropped": Fault(22, change=_drop_feature(word))
            for word in ("oneOf", "enum", "pattern", "items", "properties")
        },
        "23 dots": Fault(23, refuse=_refuse_name(r"\.")),
        "23 dashes": Fault(23, refuse=_refuse_name("-")),
        "23 long": Fault(23, refuse=_refuse_name("^.{65}")),
        **each(23, "changed", _rename),
        **each(24, "escaped twice", _escape_twice),
        **each(24, "replaced", _replaced),
        **each(24, "latin", _latin),
        "25 swapped": Fault(25, refuse=_refuse_swapped),
        "25 empty": Fault(25, refuse=_refuse_result(lambda text: not text)),
        "25 JSON": Fault(25, refuse=_refuse_result(lambda text: text.startswith("{"))),
        **each(25, "mixed up", _read_in_order, both[:1]),
        **each(26, "system", _forget("system"), both[:1]),
        **each(26, "tools", _forget("tools"), both[:1]),
        **each(27, "missing", _usage()),
        **each(27, "zero", _usage(prompt_tokens=0, completion_tokens=0, total_tokens=0)),
        "27 cached twice": Fault(27, change=CachedTwice()),
        "28 others": Fault(28, change=OthersCalls()),
        "28 varying": Fault(28, change=Varying()),
        "29 error": Fault(29, refuse=_error_in_200),
        "29 stream": Fault(29, refuse=_error_in_stream),
        **each(30, "broken", _cut_long),
        **each(30, "short list", _cut_list),
        "30 history": Fault(30, refuse=_refuse_long),
        "30 nesting": Fault(30, refuse=_deep),
        "5 text": Fault(5, deltas=_index_as_text),
        "7 length": Fault(7, change=_finish("length")),
        **each(20, "in the reasoning", _into_reasoning, both[:1]),
        **each(20, "arguments alone", _bare_arguments, both[:1]),
        "22 digits": Fault(22, refuse=_refuse_if("no grammar", lambda b: r"\\d" in _tools_of(b))),
        "22 lookahead": Fault(22, refuse=_refuse_if("no grammar", lambda b: "(?!" in _tools_of(b))),
        **each(27, "constant", _constant_prompt, both[:1]),
        **each(31, "encoded", _encode_twice),
        **each(32, "doubled", _send_twice),
        **each(32, "as text, too", _as_text_too, both[:1]),
        **{f"33 {name}": Fault(33, refuse=refuse) for name, refuse in HISTORIES.items()},
        **{
            f"34 {most} tools": Fault(34, refuse=_refuse_if("too many", _more_tools_than(most)))
            for most in (5, 40, 64, 100, 127)
        },
        **{
            f"34 {most} bytes": Fault(34, refuse=_refuse_if("too large", _larger_than(most)))
            for most in (3_000, 98_000, 250_000)
        },
        "35 calls": Fault(35, refuse=_refuse_if("Missing", _without("reasoning_content", ["calls"]))),
        "35 replies": Fault(
            35, refuse=_refuse_if("Missing", _without("reasoning_content", ["calls", "assistant"]))
        ),
        "35 signature": Fault(35, refuse=_refuse_if("missing a thought_signature", _unsigned)),
        "35 refused": Fault(
            35, refuse=_refuse_if("unknown", lambda b: "reasoning_content" in str(b["messages"]))
        ),
        **each(36, "again", _call_again, both[:1]),
        **each(36, "forgotten", _forget_results, both[:1]),
        **each(36, "last dropped", _uncounted_results(True), both[:1]),
        **each(36, "earlier dropped", _uncounted_results(False), both[:1]),
        "37 limit demanded": Fault(
            37, refuse=_refuse_if("max_tokens is required", lambda b: "max_tokens" not in b)
        ),
        "37 no streams": Fault(37, refuse=_refuse_if("no streams", lambda b: "stream" in b)),
        "38 no id": Fault(38, deltas=_repeat_head(id=None)),
        "38 same id": Fault(38, deltas=_repeat_head()),
        **each(39, "swallowed", _swallow_all, both[:1]),
    }


def _more_tools_than(most: int) -> Callable[[Json], bool]:
    return lambda body: len(body.get("tools") or ()) > most


def _larger_than(most: int) -> Callable[[Json], bool]:
    return lambda body: len(_tools_of(body)) > most
