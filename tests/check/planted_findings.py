"""What a check says of each planted defect."""

from typing import NamedTuple


class Said(NamedTuple):
    """What a report says."""

    findings: list[tuple[int, str, int, str]]
    """Number, problem, replies and their form."""
    untested: list[int]
    """Numbers of defects that the planted one hides."""
    remarks: tuple[str, ...] = ()


SAID: dict[str, Said] = {
    "1 call dropped": Said([(1, "the whole reply has the call, the stream has none", 3, "streamed")], [0, 2]),
    "2 later arguments empty": Said(
        [(2, "calls after one without arguments have none in the stream", 3, "streamed")], [0]
    ),
    "3 second call empty": Said(
        [(3, "the whole reply has two calls, the stream only the first with its arguments", 3, "streamed")],
        [0],
    ),
    "3 second call gone": Said(
        [(3, "the whole reply has two calls, the stream only the first with its arguments", 3, "streamed")],
        [0],
    ),
    "4 one index": Said([(4, "several calls with one `index`", 4, "streamed")], [0]),
    "4 merged": Said([(4, "several calls with one `index`", 4, "streamed")], [0, 2, 3]),
    "5 no index": Said([(5, "a delta of a call without `index`", 45, "streamed")], [4]),
    "6 no ids": Said([(6, "a call without an id", 91, "streamed and whole")], []),
    "6 no ids, streamed": Said([(6, "a call without an id", 45, "streamed")], []),
    "6 no ids, whole": Said([(6, "a call without an id", 46, "whole")], []),
    "6 same ids": Said([(6, "two calls with one id", 8, "streamed and whole")], []),
    "6 same ids, streamed": Said([(6, "two calls with one id", 4, "streamed")], []),
    "6 same ids, whole": Said([(6, "two calls with one id", 4, "whole")], []),
    "6 late ids": Said([(6, "no id in the first delta of a call", 45, "streamed")], []),
    "7 stop": Said(
        [(7, "calls, and the finish reason 'stop'", 89, "streamed and whole")],
        [],
        ("With a named tool_choice the finish reason is `stop`, as at OpenAI.",),
    ),
    "7 stop, streamed": Said(
        [(7, "calls, and the finish reason 'stop'", 44, "streamed")],
        [],
        ("With a named tool_choice the finish reason is `stop`, as at OpenAI.",),
    ),
    "7 stop, whole": Said(
        [(7, "calls, and the finish reason 'stop'", 45, "whole")],
        [],
        ("With a named tool_choice the finish reason is `stop`, as at OpenAI.",),
    ),
    "7 end_turn": Said([(7, "calls, and the finish reason 'end_turn'", 91, "streamed and whole")], []),
    "7 end_turn, streamed": Said([(7, "calls, and the finish reason 'end_turn'", 45, "streamed")], []),
    "7 end_turn, whole": Said([(7, "calls, and the finish reason 'end_turn'", 46, "whole")], []),
    "8 no call": Said(
        [(8, "the finish reason `tool_calls`, and no call", 6, "streamed and whole")],
        [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 19, 20, 22, 23, 24, 28, 30, 31, 32, 35, 38],
    ),
    "8 no call, streamed": Said(
        [(8, "the finish reason `tool_calls`, and no call", 43, "streamed")],
        [0, 1, 2, 3, 4, 5, 9, 12, 13, 38],
    ),
    "8 no call, whole": Said(
        [(8, "the finish reason `tool_calls`, and no call", 46, "whole")], [0, 1, 2, 3, 9, 12, 13]
    ),
    "9 text dropped, streamed": Said(
        [(9, "the text beside the call is missing in streamed replies", 3, "streamed")], []
    ),
    "9 text dropped, whole": Said(
        [(9, "the text beside the call is missing in whole replies", 3, "whole")], []
    ),
    "10 null": Said(
        [
            (10, "`arguments` is null or missing", 46, "whole"),
            (10, "`arguments` is an empty text", 4, "streamed"),
        ],
        [0, 2, 3, 11, 12, 13, 15, 24, 28, 30, 31],
    ),
    "10 null, streamed": Said(
        [
            (10, "`arguments` is an empty text", 4, "streamed"),
            (13, "the stream has the call without its arguments", 3, "streamed"),
        ],
        [0, 2, 3, 12],
    ),
    "10 null, whole": Said([(10, "`arguments` is null or missing", 46, "whole")], [0, 2, 3, 12, 13]),
    "10 missing, whole": Said([(10, "`arguments` is null or missing", 46, "whole")], [0, 2, 3, 12, 13]),
    "10 object": Said([(10, "`arguments` is an object", 91, "streamed and whole")], [0, 11, 31]),
    "10 object, streamed": Said([(10, "`arguments` is an object", 45, "streamed")], [0]),
    "10 object, whole": Said([(10, "`arguments` is an object", 46, "whole")], [0]),
    "10 empty, whole": Said([(10, "`arguments` is an empty text", 46, "whole")], [0, 2, 3, 12, 13]),
    "11 too much": Said(
        [(11, "the JSON of a call is right after its end is corrected", 81, "streamed and whole")],
        [0, 2, 3, 12, 13, 15, 24, 28, 30],
    ),
    "11 too much, streamed": Said(
        [(11, "the JSON of a call is right after its end is corrected", 40, "streamed")], [0, 2, 3, 12, 13]
    ),
    "11 too much, whole": Said(
        [(11, "the JSON of a call is right after its end is corrected", 41, "whole")], [0, 2, 3, 12, 13]
    ),
    "11 too little": Said(
        [(11, "the JSON of a call is right after its end is corrected", 85, "streamed and whole")],
        [0, 2, 3, 12, 13, 15, 24, 28, 30],
    ),
    "11 too little, streamed": Said(
        [(11, "the JSON of a call is right after its end is corrected", 42, "streamed")], [0, 2, 3, 12, 13]
    ),
    "11 too little, whole": Said(
        [(11, "the JSON of a call is right after its end is corrected", 43, "whole")], [0, 2, 3, 12, 13]
    ),
    "12 texts": Said([(12, "the whole reply has numbers, the stream texts", 3, "streamed")], [0]),
    "13 empty": Said(
        [
            (10, "`arguments` is an empty text", 4, "streamed"),
            (13, "the stream has the call without its arguments", 3, "streamed"),
        ],
        [0, 2, 3, 12],
    ),
    "14 swallowed": Said(
        [
            (14, "whole: only the call without arguments comes; in another order all three do", 3, "whole"),
            (
                14,
                "streamed: only the call without arguments comes; in another order all three do",
                3,
                "streamed",
            ),
        ],
        [0, 2],
    ),
    "14 swallowed, streamed": Said(
        [
            (
                14,
                "streamed: only the call without arguments comes; in another order all three do",
                3,
                "streamed",
            )
        ],
        [0, 2],
    ),
    "14 swallowed, whole": Said(
        [(14, "whole: only the call without arguments comes; in another order all three do", 3, "whole")],
        [0, 2],
    ),
    "15 malformed": Said([(15, "the arguments are not JSON", 2, "streamed and whole")], [0]),
    "15 malformed, streamed": Said([(15, "the arguments are not JSON", 1, "streamed")], [0]),
    "15 malformed, whole": Said([(15, "the arguments are not JSON", 1, "whole")], [0]),
    "16 one": Said(
        [(16, "one call, and the completion tokens of two", 12, "streamed and whole")], [0, 2, 3, 4, 14]
    ),
    "16 one, whole": Said([(16, "the stream has two calls, the whole reply one", 6, "whole")], [0, 2, 3]),
    "16 one unless allowed": Said(
        [(16, "one call, unless the request sets parallel_tool_calls to true", 6, "streamed and whole")], [0]
    ),
    "17 refused": Said([(17, "a history with a malformed call is refused", 3, "whole")], []),
    "18 none": Said([(18, "`none`, and a call", 2, "streamed and whole")], [0]),
    "18 none, streamed": Said([(18, "`none`, and a call", 1, "streamed")], [0]),
    "18 none, whole": Said([(18, "`none`, and a call", 1, "whole")], [0]),
    "18 required": Said([(18, "`required`, and no call", 2, "streamed and whole")], [0]),
    "18 required, streamed": Said([(18, "`required`, and no call", 1, "streamed")], [0]),
    "18 required, whole": Said([(18, "`required`, and no call", 1, "whole")], [0]),
    "18 named": Said([(18, "a named tool, and another call or none", 2, "streamed and whole")], [0]),
    "18 named, streamed": Said([(18, "a named tool, and another call or none", 1, "streamed")], [0]),
    "18 named, whole": Said([(18, "a named tool, and another call or none", 1, "whole")], [0]),
    "18 refused": Said([(18, "a named tool is refused", 2, "streamed and whole")], [0]),
    "19 closed": Said(
        [(19, "a reply of 16 tokens at a limit of 16 ends with 'tool_calls'", 2, "streamed and whole")], []
    ),
    "19 closed, streamed": Said(
        [(19, "a reply of 16 tokens at a limit of 16 ends with 'tool_calls'", 1, "streamed")], []
    ),
    "19 closed, whole": Said(
        [(19, "a reply of 16 tokens at a limit of 16 ends with 'tool_calls'", 1, "whole")], []
    ),
    "19 stop": Said(
        [(19, "a reply of 16 tokens at a limit of 16 ends with 'stop'", 2, "streamed and whole")], []
    ),
    "19 stop, streamed": Said(
        [(19, "a reply of 16 tokens at a limit of 16 ends with 'stop'", 1, "streamed")], []
    ),
    "19 stop, whole": Said([(19, "a reply of 16 tokens at a limit of 16 ends with 'stop'", 1, "whole")], []),
    "20 hermes": Said(
        [(20, "a call in the text, and none in `tool_calls`", 2, "streamed and whole")],
        [0],
        ("The model made no call by itself; tool_choice `required` demanded all calls of this check.",),
    ),
    "20 hermes, streamed": Said(
        [(20, "a call in the text, and none in `tool_calls`", 44, "streamed")], [0, 1, 2, 3, 4, 9, 12, 13]
    ),
    "20 hermes, whole": Said(
        [(20, "a call in the text, and none in `tool_calls`", 45, "whole")], [0, 1, 2, 3, 9, 12, 13]
    ),
    "20 fence": Said(
        [(20, "a call in the text, and none in `tool_calls`", 2, "streamed and whole")],
        [0],
        ("The model made no call by itself; tool_choice `required` demanded all calls of this check.",),
    ),
    "20 fence, streamed": Said(
        [(20, "a call in the text, and none in `tool_calls`", 44, "streamed")], [0, 1, 2, 3, 4, 9, 12, 13]
    ),
    "20 fence, whole": Said(
        [(20, "a call in the text, and none in `tool_calls`", 45, "whole")], [0, 1, 2, 3, 9, 12, 13]
    ),
    "20 mistral": Said(
        [(20, "a call in the text, and none in `tool_calls`", 2, "streamed and whole")],
        [0],
        ("The model made no call by itself; tool_choice `required` demanded all calls of this check.",),
    ),
    "20 mistral, streamed": Said(
        [(20, "a call in the text, and none in `tool_calls`", 44, "streamed")], [0, 1, 2, 3, 4, 9, 12, 13]
    ),
    "20 mistral, whole": Said(
        [(20, "a call in the text, and none in `tool_calls`", 45, "whole")], [0, 1, 2, 3, 9, 12, 13]
    ),
    "21 leak": Said([(21, "<think> in the text", 2, "streamed and whole")], [0]),
    "21 leak, streamed": Said([(21, "<think> in the text", 1, "streamed")], [0]),
    "21 leak, whole": Said([(21, "<think> in the text", 1, "whole")], [0]),
    "21 considered": Said(
        [(21, "a call that the reasoning only considers is made", 2, "streamed and whole")], [0]
    ),
    "21 considered, streamed": Said(
        [(21, "a call that the reasoning only considers is made", 1, "streamed")], [0]
    ),
    "21 considered, whole": Said([(21, "a call that the reasoning only considers is made", 1, "whole")], [0]),
    "22 oneOf refused": Said([(22, "oneOf: refused", 3, "streamed and whole")], []),
    "22 anyOf refused": Said([(22, "anyOf: refused", 3, "streamed and whole")], []),
    "22 $ref refused": Said([(22, "$ref: refused", 3, "streamed and whole")], []),
    "22 enum refused": Said([(22, "enum: refused", 11, "streamed and whole")], [37]),
    "22 pattern refused": Said(
        [
            (22, "pattern with \\d: refused", 3, "streamed and whole"),
            (22, "pattern with a lookahead: refused", 3, "streamed and whole"),
            (22, "pattern: refused", 3, "streamed and whole"),
        ],
        [],
    ),
    "22 array refused": Said([(22, "array of objects: refused", 3, "streamed and whole")], []),
    "22 nullable refused": Said([(22, "nullable: refused", 3, "streamed and whole")], []),
    "22 nested refused": Said([(22, "nested object: refused", 3, "streamed and whole")], []),
    "22 no properties": Said([(22, "no properties: refused", 2, "streamed and whole")], []),
    "22 oneOf dropped": Said([(22, "oneOf: dropped, a longer one adds 0 prompt tokens", 1, "whole")], []),
    "22 enum dropped": Said([(22, "enum: dropped, a longer one adds 0 prompt tokens", 1, "whole")], []),
    "22 pattern dropped": Said(
        [
            (22, "pattern with \\d: dropped, a longer one adds 0 prompt tokens", 1, "whole"),
            (22, "pattern with a lookahead: dropped, a longer one adds 0 prompt tokens", 1, "whole"),
            (22, "pattern: dropped, a longer one adds 0 prompt tokens", 1, "whole"),
        ],
        [],
    ),
    "22 items dropped": Said(
        [(22, "array of objects: dropped, a longer one adds 0 prompt tokens", 1, "whole")], []
    ),
    "22 properties dropped": Said(
        [(22, "nested object: dropped, a longer one adds 0 prompt tokens", 1, "whole")], []
    ),
    "23 dots": Said([(23, "lamp.set_level: refused", 2, "streamed and whole")], []),
    "23 dashes": Said([(23, "lamp-set-level: refused", 2, "streamed and whole")], []),
    "23 long": Said([(23, "65 characters: refused", 2, "streamed and whole")], []),
    "23 changed": Said(
        [
            (23, "lamp.set_level: comes back as lamp_set_level", 2, "streamed and whole"),
            (
                23,
                "65 characters: comes back as set_the_level_of_the_lamp_in_the_named_roomxxxxxxxxxxxxxxxxxxxxx",
                2,
                "streamed and whole",
            ),
        ],
        [],
    ),
    "23 changed, streamed": Said(
        [
            (23, "lamp.set_level: comes back as lamp_set_level", 1, "streamed"),
            (
                23,
                "65 characters: comes back as set_the_level_of_the_lamp_in_the_named_roomxxxxxxxxxxxxxxxxxxxxx",
                1,
                "streamed",
            ),
        ],
        [],
    ),
    "23 changed, whole": Said(
        [
            (23, "lamp.set_level: comes back as lamp_set_level", 1, "whole"),
            (
                23,
                "65 characters: comes back as set_the_level_of_the_lamp_in_the_named_roomxxxxxxxxxxxxxxxxxxxxx",
                1,
                "whole",
            ),
        ],
        [],
    ),
    "24 escaped twice": Said(
        [(24, "the argument holds escapes instead of characters", 2, "streamed and whole")], [0]
    ),
    "24 escaped twice, streamed": Said(
        [(24, "the argument holds escapes instead of characters", 1, "streamed")], [0]
    ),
    "24 escaped twice, whole": Said(
        [(24, "the argument holds escapes instead of characters", 1, "whole")], [0]
    ),
    "24 replaced": Said([(24, "the argument holds U+FFFD", 2, "streamed and whole")], [0]),
    "24 replaced, streamed": Said([(24, "the argument holds U+FFFD", 1, "streamed")], [0]),
    "24 replaced, whole": Said([(24, "the argument holds U+FFFD", 1, "whole")], [0]),
    "24 latin": Said([(24, "the argument is UTF-8 read as Latin-1", 2, "streamed and whole")], [0]),
    "24 latin, streamed": Said([(24, "the argument is UTF-8 read as Latin-1", 1, "streamed")], [0]),
    "24 latin, whole": Said([(24, "the argument is UTF-8 read as Latin-1", 1, "whole")], [0]),
    "25 swapped": Said([(25, "results in another order than their calls are refused", 3, "whole")], []),
    "25 empty": Said([(25, "an empty result is refused", 3, "whole")], []),
    "25 JSON": Said([(25, "a result that is JSON is refused", 12, "whole")], [37]),
    "25 mixed up": Said(
        [(25, "results in another order are read as if in the order of the calls", 3, "whole")], []
    ),
    "26 system": Said([(26, "the system prompt is not in the prompt of the second turn", 1, "whole")], []),
    "26 tools": Said([(26, "the tools are not in the prompt of the second turn", 1, "whole")], []),
    "27 missing": Said([(27, "no usage", 143, "streamed and whole")], [26]),
    "27 missing, streamed": Said([(27, "no usage", 48, "streamed")], []),
    "27 missing, whole": Said([(27, "no usage", 95, "whole")], [26]),
    "27 zero": Said([(27, "usage of 0 prompt and 0 completion tokens", 143, "streamed and whole")], [26]),
    "27 zero, streamed": Said([(27, "usage of 0 prompt and 0 completion tokens", 48, "streamed")], []),
    "27 zero, whole": Said([(27, "usage of 0 prompt and 0 completion tokens", 95, "whole")], [26]),
    "27 cached twice": Said(
        [(27, "cached tokens are added to the prompt tokens", 37, "streamed and whole")], []
    ),
    "28 others": Said(
        [
            (28, "under load, the call of another request: room 1000 for room 1037", 1, "whole"),
            (28, "under load, the call of another request: room 1111 for room 1148", 1, "whole"),
            (28, "under load, the call of another request: room 1222 for room 1259", 1, "whole"),
            (28, "under load, the call of another request: room 1333 for room 1370", 1, "whole"),
            (28, "under load, the call of another request: room 1444 for room 1481", 1, "whole"),
        ],
        [],
    ),
    "28 varying": Said([(28, "5 different calls on one request at temperature 0", 5, "whole")], []),
    "29 error": Said([(29, "HTTP 200 with the error 'upstream: unknown role'", 2, "streamed and whole")], []),
    "29 stream": Said(
        [
            (29, "HTTP 200 with the error 'upstream broke'", 49, "streamed"),
            (37, "a streamed request", 62, "streamed"),
        ],
        [0, 1, 2, 3, 4, 5, 9, 12, 13, 38],
        ("16 of 32 requests sent at once failed: upstream broke",),
    ),
    "30 broken": Said(
        [
            (30, "long text: 700 characters of 7,821 came", 2, "streamed and whole"),
            (30, "long list: 700 characters of 905 came", 2, "streamed and whole"),
        ],
        [0],
    ),
    "30 broken, streamed": Said(
        [
            (30, "long text: 700 characters of 7,821 came", 1, "streamed"),
            (30, "long list: 700 characters of 905 came", 1, "streamed"),
        ],
        [0],
    ),
    "30 broken, whole": Said(
        [
            (30, "long text: 700 characters of 7,821 came", 1, "whole"),
            (30, "long list: 700 characters of 905 came", 1, "whole"),
        ],
        [0],
    ),
    "30 short list": Said([(30, "long list: 405 characters of 905 came", 2, "streamed and whole")], [0]),
    "30 short list, streamed": Said([(30, "long list: 405 characters of 905 came", 1, "streamed")], [0]),
    "30 short list, whole": Said([(30, "long list: 405 characters of 905 came", 1, "whole")], [0]),
    "30 history": Said([(30, "a call of 8 kB in the history is refused", 3, "whole")], [0]),
    "30 nesting": Said([(30, "deep nesting: refused", 2, "streamed and whole")], [0]),
    "5 text": Said([(5, "`index` is the text '0'", 45, "streamed")], []),
    "7 length": Said(
        [(7, "calls, and the finish reason 'length' far below the limit", 89, "streamed and whole")],
        [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 16, 22, 23, 24, 30, 31, 32, 38],
    ),
    "20 in the reasoning": Said(
        [
            (18, "`required`, and no call", 2, "streamed and whole"),
            (18, "a named tool, and another call or none", 2, "streamed and whole"),
            (20, "a call in the reasoning, and none in `tool_calls`", 6, "streamed and whole"),
        ],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 22, 23, 24, 28, 30, 31, 32, 35, 38],
    ),
    "20 arguments alone": Said(
        [
            (18, "`required`, and no call", 2, "streamed and whole"),
            (18, "a named tool, and another call or none", 2, "streamed and whole"),
            (20, "the arguments of a call in the text, and no call", 6, "streamed and whole"),
        ],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 22, 23, 24, 28, 30, 31, 32, 35, 38],
    ),
    "22 digits": Said([(22, "pattern with \\d: refused", 3, "streamed and whole")], []),
    "22 lookahead": Said([(22, "pattern with a lookahead: refused", 3, "streamed and whole")], []),
    "27 constant": Said([(27, "longer prompts have as many prompt tokens", 1, "whole")], [26]),
    "31 encoded": Said(
        [(31, "`arguments` is the JSON text of a JSON text", 91, "streamed and whole")],
        [0, 2, 3, 10, 11, 12, 13, 24, 28, 30],
    ),
    "31 encoded, streamed": Said(
        [(31, "`arguments` is the JSON text of a JSON text", 45, "streamed")], [0, 2, 3, 12, 13]
    ),
    "31 encoded, whole": Said(
        [(31, "`arguments` is the JSON text of a JSON text", 46, "whole")], [0, 2, 3, 12, 13]
    ),
    "32 doubled": Said(
        [(32, "a call that was requested once comes twice", 99, "streamed and whole")],
        [0, 1, 2, 3, 12, 13, 14, 30],
    ),
    "32 doubled, streamed": Said(
        [(32, "a call that was requested once comes twice", 47, "streamed")], [0, 2, 3, 12, 13]
    ),
    "32 doubled, whole": Said(
        [(32, "a call that was requested once comes twice", 52, "whole")], [0, 1, 2, 3, 12, 13]
    ),
    "32 as text, too": Said(
        [(32, "the same call in the text and in `tool_calls`", 93, "streamed and whole")], [0]
    ),
    "33 role tool": Said([(33, "calls and their results in the history", 35, "whole")], [17, 25, 35, 36, 37]),
    "33 two calls": Said([(33, "two calls in one message", 14, "whole")], [17, 25, 37]),
    "33 two results": Said([(33, "two tool results in a row", 14, "whole")], [17, 25, 37]),
    "33 null content": Said([(33, "`content: null` beside calls", 8, "whole")], [37]),
    "33 empty content": Said([(33, "an empty text beside calls", 27, "whole")], [17, 25, 35, 37]),
    "33 text beside": Said([(33, "a text beside calls", 1, "whole")], []),
    "33 last not user": Said([(33, "a tool result as the last message", 10, "whole")], [37]),
    "33 last tool": Said([(33, "a tool result as the last message", 10, "whole")], [37]),
    "33 user after result": Said([(33, "a user's message right after a tool result", 15, "whole")], [17, 25]),
    "33 text after result": Said([(33, "a reply in text right after a tool result", 11, "whole")], [35, 37]),
    "33 second step": Said([(33, "calls right after a tool result", 7, "whole")], [37]),
    "33 system": Said([(33, "a system message", 15, "whole")], [26, 37]),
    "33 late system": Said([(33, "a system message after another one", 1, "whole")], []),
    "33 ids": Said([(33, "call ids other than nine letters and digits", 9, "whole")], [37]),
    "34 5 tools": Said([(34, "7 tools are refused, 5 are accepted", 17, "whole")], [37]),
    "34 40 tools": Said([(34, "64 tools are refused, 40 are accepted", 3, "whole")], []),
    "34 64 tools": Said([(34, "100 tools are refused, 64 are accepted", 2, "whole")], []),
    "34 100 tools": Said([(34, "128 tools are refused, 100 are accepted", 1, "whole")], []),
    "34 127 tools": Said([(34, "128 tools are refused, 100 are accepted", 1, "whole")], []),
    "34 3000 bytes": Said([(34, "4 kB of tools are refused, 2 are accepted", 19, "whole")], [37]),
    "34 98000 bytes": Said([(34, "104 kB of tools are refused, 52 are accepted", 3, "whole")], []),
    "34 250000 bytes": Said([(34, "312 kB of tools are refused, 208 are accepted", 1, "whole")], []),
    "35 calls": Said(
        [(35, "calls in the history without `reasoning_content`", 34, "whole")], [17, 25, 33, 36, 37]
    ),
    "35 replies": Said(
        [
            (35, "calls in the history without `reasoning_content`", 34, "whole"),
            (35, "replies in the history without `reasoning_content`", 5, "whole"),
        ],
        [17, 25, 26, 33, 36, 37],
    ),
    "35 signature": Said(
        [(35, "calls in the history without a `thought_signature`", 35, "whole")], [17, 25, 33, 36, 37]
    ),
    "35 refused": Said([(35, "`reasoning_content` in the history, as the endpoint gave it", 1, "whole")], []),
    "36 again": Said([(36, "after its result the same call is made again", 3, "whole")], []),
    "36 forgotten": Said(
        [(36, "an answer does not know the result; it knows what the user says", 4, "whole")], [25]
    ),
    "36 last dropped": Said(
        [(36, "the last result is not in the prompt: a longer one adds 1 tokens", 1, "whole")], []
    ),
    "36 earlier dropped": Said(
        [(36, "a result of an earlier turn is not in the prompt: a longer one adds 1 tokens", 1, "whole")], []
    ),
    "37 limit demanded": Said([(37, "a request without `max_tokens`", 8, "whole")], []),
    "37 no streams": Said(
        [(37, "a streamed request", 62, "streamed")],
        [0, 1, 2, 3, 4, 5, 9, 12, 13, 38],
        ("16 of 32 requests sent at once failed: HTTP 400: no streams",),
    ),
    "38 no id": Said([(38, "a later delta has the name of the call again", 45, "streamed")], [0]),
    "38 same id": Said([(38, "a later delta has the name of the call again", 45, "streamed")], [0]),
    "39 swallowed": Said(
        [
            (18, "`required`, and no call", 2, "streamed and whole"),
            (18, "a named tool, and another call or none", 2, "streamed and whole"),
            (39, "an empty reply of 77 tokens", 6, "streamed and whole"),
        ],
        [
            0,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            16,
            19,
            20,
            22,
            23,
            24,
            28,
            30,
            31,
            32,
            35,
            38,
        ],
    ),
}
