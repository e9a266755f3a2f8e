"""The format of a model is told by what stands in its chat template."""

import pytest

from wildtool.tool_formats.detect import format_of_template


@pytest.mark.parametrize(
    ("template", "format"),
    [
        ('{{- \'<tool_call>\\n{"name": "\' }}{{- tool_call.name }}', "hermes"),
        ('{{- "[TOOL_CALLS] [" }}', "mistral"),
        ("{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function'}}", "deepseek"),
        ("<tool_call>\n<function={{ name }}>\n<parameter={{ key }}>", "qwen3-coder"),
        ("{%- set begin = '<minimax:tool_call>' -%}", "minimax"),
        ('{%- set dsml_token = "｜DSML｜" -%}', "dsml"),
        ("<|tool_calls_section_begin|><|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>", "kimi"),
        ('{{- "<|start|>assistant<|channel|>final<|message|>" }}', "harmony"),
        ("<tool_call>{{ name }}\n<arg_key>{{ k }}</arg_key>", "glm"),
        ('{{- "<|python_tag|>" + tool_call.name }}', "llama3-json"),
        ('{"name": function name, "parameters": dictionary of argument name and its value}', "llama3-json"),
        ("Use exact format: [func_name1(param1=value1, param2=value2), func_name2(...)]", "pythonic"),
        ("{%- set ns_token = ']<]minimax[>[' -%}{{ ns_token + '<tool_call>' }}", "minimax-m3"),
        ("{{- '<|tool_call>call:' + function['name'] + '{' -}}", "gemma"),
        ("{{- '<start_function_call>call:' + name }}", "gemma"),
        ("<|START_ACTION|>[{% for tc in message.tool_calls %}", "command-r"),
        ('"name": "directly_answer"', "command-r"),
        ('{{- "<|tool_call_start|>[" + (calls | join(", ")) + "]<|tool_call_end|>" -}}', "pythonic"),
        ('"List of tools: <|tool_list_start|>["', "pythonic"),
        ("Write the response with <|tool_call|> followed by a JSON list of tools used.", "granite"),
        ('[{"name": "tool_call_name", "arguments": {"arg1": "value1"}}]', "json-list"),
    ],
)
def test_marks_tell_the_format(template: str, format: str):
    found = format_of_template(template)
    assert found is not None and found.name == format


@pytest.mark.parametrize(
    "template",
    [
        "<function={{ name }}>{{ arguments }}</function>",
        "<tool_calls>\n<tool_call>",
        "<|tool_calls|>[",
        "<|im_start|>{{ message.role }}",
    ],
)
def test_marks_of_other_formats_and_no_marks_tell_nothing(template: str):
    assert format_of_template(template) is None
