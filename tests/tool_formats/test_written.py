"""What each format writes: calls beside a text, calls alone, a text alone, and results."""

import pytest

from wildtool.tool_formats import CALL_FORMATS, ToolCall, ToolResult

CALLS = [
    ToolCall("f", {"a": "x", "b c": [1, {"k": None}], "d": "<b>"}),
    ToolCall("g", {}),
    ToolCall("h", "raw"),
]
RESULTS = [ToolResult("f", "one"), ToolResult("g", "two\nlines")]
WRITTEN = {
    "hermes": (
        (
            'Look.\n<tool_call>\n{"name":"f","arguments":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}\n<'
            '/tool_call>\n<tool_call>\n{"name":"g","arguments":{}}\n</tool_call>\n'
            '<tool_call>\n{"name":"h","arguments":"raw"}\n</tool_call>'
        ),
        '<tool_call>\n{"name":"g","arguments":{}}\n</tool_call>',
        "Hi.",
        "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\nlines\n</tool_response>",
    ),
    "llama3-json": (
        (
            'Look.\n{"name":"f","parameters":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}\n{"name":"g","'
            'parameters":{}}\n{"name":"h","parameters":"raw"}'
        ),
        '{"name":"g","parameters":{}}',
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "pythonic": (
        "Look.\n[f(a='x', d='<b>', **{'b c': [1, {'k': None}]}), g(), h('raw')]",
        "[g()]",
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "json-list": (
        (
            'Look.\n[{"name":"f","arguments":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}, {"name":"g","'
            'arguments":{}}, {"name":"h","arguments":"raw"}]'
        ),
        '[{"name":"g","arguments":{}}]',
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "hammer": (
        (
            'Look.\n```\n[{"name":"f","arguments":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}, {"name":'
            '"g","arguments":{}}, {"name":"h","arguments":"raw"}]\n```'
        ),
        '```\n[{"name":"g","arguments":{}}]\n```',
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "mistral": (
        (
            'Look.\n[TOOL_CALLS] [{"name":"f","arguments":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}, '
            '{"name":"g","arguments":{}}, {"name":"h","arguments":"raw"}]'
        ),
        '[TOOL_CALLS] [{"name":"g","arguments":{}}]',
        "Hi.",
        (
            '[TOOL_RESULTS] {"name":"f","content":"one"} [/TOOL_RESULTS]\n[TOOL_RESULTS] {"name":"g",'
            '"content":"two\\nlines"} [/TOOL_RESULTS]'
        ),
    ),
    "deepseek": (
        (
            'Look.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a":"x","b c":[1,{"k":null}]'
            ',"d":"<b>"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁ca'
            'll▁begin｜>h<｜tool▁sep｜>"raw"<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "Hi.",
        (
            "<｜tool▁output▁begin｜>one<｜tool▁output▁end｜>\n<｜tool▁output▁begin｜>two\nlines<｜tool▁outpu"
            "t▁end｜>"
        ),
    ),
    "glm": (
        (
            "Look.\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n<arg_key>b c</arg_k"
            'ey>\n<arg_value>[1,{"k":null}]</arg_value>\n<arg_key>d</arg_key>\n<arg_value>"\\u003cb>"'
            "</arg_value>\n</tool_call>\n"
            "<tool_call>g\n</tool_call>\n"
            '<tool_call>{"name":"h","arguments":"raw"}</tool_call>'
        ),
        "<tool_call>g\n</tool_call>",
        "Hi.",
        "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\nlines\n</tool_response>",
    ),
    "gorilla": (
        (
            "Look.\n<<function>>f(a='x', d='<b>', **{'b c': [1, {'k': None}]})<<function>>g()<<functi"
            "on>>h('raw')"
        ),
        "<<function>>g()",
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "react": (
        (
            'Thought: Look.\nAction: f\nAction Input: {"a":"x","b c":[1,{"k":null}],"d":"<b>"}\nActio'
            'n: g\nAction Input: {}\nAction: h\nAction Input: "raw"'
        ),
        "Action: g\nAction Input: {}",
        "Final Answer: Hi.",
        "Observation: one\nObservation: two\nlines",
    ),
    "qwen3-coder": (
        (
            'Look.\n<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=b c>\n[1,{"'
            'k":null}]\n</parameter>\n<parameter=d>\n<b>\n</parameter>\n</function>\n</tool_call>\n'
            "<tool_call>\n<function=g>\n</function>\n</tool_call>\n"
            '<tool_call>\n{"name":"h","arguments":"raw"}\n</tool_call>'
        ),
        "<tool_call>\n<function=g>\n</function>\n</tool_call>",
        "Hi.",
        "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\nlines\n</tool_response>",
    ),
    "minimax": (
        (
            'Look.\n<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">x</parameter>\n<param'
            'eter name="b c">[1,{"k":null}]</parameter>\n<parameter name="d"><b></parameter>\n</invok'
            'e>\n<invoke name="g">\n</invoke>\n{"name":"h","arguments":"raw"}\n</minimax:tool_call>'
        ),
        '<minimax:tool_call>\n<invoke name="g">\n</invoke>\n</minimax:tool_call>',
        "Hi.",
        "<response>one</response>\n<response>two\nlines</response>",
    ),
    "dsml": (
        (
            'Look.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string'
            '="true">x</｜DSML｜parameter>\n<｜DSML｜parameter name="b c" string="false">[1,{"k":null}]</'
            '｜DSML｜parameter>\n<｜DSML｜parameter name="d" string="true"><b></｜DSML｜parameter>\n</｜DSML'
            '｜invoke>\n<｜DSML｜invoke name="g">\n</｜DSML｜invoke>\n{"name":"h","arguments":"raw"}\n</｜D'
            "SML｜function_calls>"
        ),
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="g">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
        "Hi.",
        "<function_results>\n<result>one</result>\n<result>two\nlines</result>\n</function_results>",
    ),
    "kimi": (
        (
            "Look.\n<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_"
            'begin|>{"a":"x","b c":[1,{"k":null}],"d":"<b>"}<|tool_call_end|><|tool_call_begin|>funct'
            "ions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>functions.h:2<"
            '|tool_call_argument_begin|>"raw"<|tool_call_end|><|tool_calls_section_end|>'
        ),
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.g:0<|tool_call_argument_begin|>"
            "{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        "Hi.",
        "## Return of functions.f:0\none\n## Return of functions.g:1\ntwo\nlines",
    ),
    "harmony": (
        (
            'Look.\n<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":"x","b c":['
            '1,{"k":null}],"d":"<b>"}<|call|><|start|>assistant<|channel|>commentary to=functions.g <'
            "|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>commentary to=function"
            's.h <|constrain|>json<|message|>"raw"<|call|>'
        ),
        "<|channel|>commentary to=functions.g <|constrain|>json<|message|>{}<|call|>",
        "Hi.",
        (
            "<|start|>functions.f to=assistant<|channel|>commentary<|message|>one<|end|>\n<|start|>fu"
            "nctions.g to=assistant<|channel|>commentary<|message|>two\nlines<|end|>"
        ),
    ),
    "minimax-m3": (
        (
            'Look.\n]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<a>x]<]minim'
            'ax[>[</a>]<]minimax[>[<parameter name="b c">[1,{"k":null}]]<]minimax[>[</parameter>]<]mi'
            'nimax[>[<d><b>]<]minimax[>[</d>]<]minimax[>[</invoke>\n]<]minimax[>[<invoke name="g">]<]'
            'minimax[>[</invoke>\n]<]minimax[>[<invoke name="h">]<]minimax[>[<malformed_arguments>raw'
            "]<]minimax[>[</malformed_arguments>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"
        ),
        (
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="g">]<]minimax[>[</invoke>\n]<]minim'
            "ax[>[</tool_call>"
        ),
        "Hi.",
        "<response>one</response>\n<response>two\nlines</response>",
    ),
    "gemma": (
        (
            'Look.\n<|tool_call>call:f{a:<|"|>x<|"|>,<|"|>b c<|"|>:[1,{k:null}],d:"\\u003cb>"}<tool_c'
            'all|><|tool_call>call:g{}<tool_call|><|tool_call>call:h<|"|>raw<|"|><tool_call|>'
        ),
        "<|tool_call>call:g{}<tool_call|>",
        "Hi.",
        (
            '<|tool_response>response:f{value:<|"|>one<|"|>}<tool_response|>\n<|tool_response>respons'
            'e:g{value:<|"|>two\nlines<|"|>}<tool_response|>'
        ),
    ),
    "granite": (
        (
            'Look.\n<|tool_call|>[{"name":"f","arguments":{"a":"x","b c":[1,{"k":null}],"d":"<b>"}}, '
            '{"name":"g","arguments":{}}, {"name":"h","arguments":"raw"}]'
        ),
        '<|tool_call|>[{"name":"g","arguments":{}}]',
        "Hi.",
        'Results of the calls:\n{"name":"f","output":"one"}\n{"name":"g","output":"two\\nlines"}',
    ),
    "command-r": (
        (
            'Look.\n<|START_ACTION|>[{"tool_call_id":"0","tool_name":"f","parameters":{"a":"x","b c":'
            '[1,{"k":null}],"d":"<b>"}}, {"tool_call_id":"1","tool_name":"g","parameters":{}}, {"tool'
            '_call_id":"2","tool_name":"h","parameters":"raw"}]<|END_ACTION|>'
        ),
        '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"g","parameters":{}}]<|END_ACTION|>',
        "Hi.",
        (
            '<|START_TOOL_RESULT|>[{"tool_call_id":"0","results":{"0":"one"},"is_error":null}, {"tool'
            '_call_id":"1","results":{"0":"two\\nlines"},"is_error":null}]<|END_TOOL_RESULT|>'
        ),
    ),
}


@pytest.mark.parametrize(("name", "written"), WRITTEN.items())
def test_a_format_writes_calls_texts_and_results_so(name: str, written: tuple[str, str, str, str]) -> None:
    form = CALL_FORMATS[name]
    assert (
        form.write("Look.", CALLS),
        form.write("", CALLS[1:2]),
        form.write("Hi.", []),
        form.write_results(RESULTS),
    ) == written
