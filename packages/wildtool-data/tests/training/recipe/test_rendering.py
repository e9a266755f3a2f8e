"""Chat templates are rendered as transformers renders them, and a hostile one does nothing but fail."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of

pytest.importorskip("jinja2")
from wildtool.errors import DataError
from wildtool_data.prepare.recipe.rendering import RenderedChat, render_apart, render_chats

USER = {"role": "user", "content": "Hi"}
REPLY = {"role": "assistant", "content": "Ho"}


def rendered(template: str, **seen: Any) -> RenderedChat:
    (chat,) = render_chats(template, [{"messages": [USER, REPLY], "tools": None, **seen}])
    return chat


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (
            "{% for m in messages %}\n  {% if m.role == 'user' %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}\n",
            "Hi\n",
        ),
        (
            "{% for m in messages %}{% if loop.index0 %}{% break %}{% endif %}{{ m.content }}{% endfor %}",
            "Hi",
        ),
        (
            "{% for m in messages %}{% if not loop.last %}{% continue %}{% endif %}{{ m.content }}{% endfor %}",
            "Ho",
        ),
        ("{{ {'b': '<ü>', 'a': 1} | tojson }}", '{"b": "<ü>", "a": 1}'),
        ("{{ {'b': '<ü>', 'a': 1} | tojson(ensure_ascii=True) }}", '{"b": "<\\u00fc>", "a": 1}'),
        ("{{ {'b': 'ü', 'a': 1} | tojson(ensure_ascii=False, sort_keys=true) }}", '{"a": 1, "b": "ü"}'),
        ("{{ {'b': [1]} | tojson(indent=1) }}", '{\n "b": [\n  1\n ]\n}'),
        ("{{ {'b': 1, 'a': 2} | tojson(separators=(',', ':')) }}", '{"b":1,"a":2}'),
        ("{{ {'a': [1]} | tojson(False, 2) }}", '{\n  "a": [\n    1\n  ]\n}'),
        (
            "{% set ns = namespace(n=1) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
            "3",
        ),
        ("{% set ns = namespace(self=1) %}{{ ns.self }}", "1"),
        ("{{ dict(a=1) | tojson }}{{ dict.fromkeys('ab', 0) | tojson }}", '{"a": 1}{"a": 0, "b": 0}'),
        ("{{ missing }}{{ missing is defined }}{{ documents is none }}", "FalseFalse"),
        ("{% macro f(x) %}[{{ x }}]{% endmacro %}{{ f(messages[0]['content']) }}", "[Hi]"),
        ("{{ messages[1:] | map(attribute='content') | join(',') | trim }}", "Ho"),
    ],
    ids=lambda value: value[:24],
)
def test_each_construct_gives_its_text(template: str, text: str):
    assert rendered(template) == RenderedChat(text)


def test_generation_marks_leave_the_text_as_it_is_and_are_measured():
    inner = "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% else %}ASSISTANT{% endif %}{% endfor %}"
    plain = inner.replace("ASSISTANT", "{{ m.content }}!")
    for opened, closed in (("{%", "%}"), ("{%-", "-%}")):
        marked = inner.replace(
            "ASSISTANT", f"{opened} generation {closed}{{{{ m.content }}}}!{opened} endgeneration {closed}"
        )
        assert rendered(marked) == RenderedChat(rendered(plain).text, marked=len("Ho!"))


def test_what_is_set_between_generation_marks_stays_there():
    assert (
        rendered("{% generation %}{% set x = 1 %}{{ x }}{% endgeneration %}{{ x is defined }}").text
        == "1False"
    )


def test_each_chat_is_measured_alone():
    template = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    chats = [{"messages": [USER, REPLY]}, {"messages": [REPLY]}]
    assert [chat.marked for chat in render_chats(template, chats)] == [4, 2]


def test_an_exception_of_a_template_is_the_reason():
    assert rendered("{{ raise_exception('no tools') }}") == RenderedChat(refusal="no tools")


def test_today_is_today():
    before, text, after = datetime.now(), rendered("{{ strftime_now('%d %b %Y') }}").text, datetime.now()
    assert text in {moment.strftime("%d %b %Y") for moment in (before, after)}


def test_a_message_has_no_empty_keys_and_its_thoughts_under_every_name():
    shown = "{% for m in messages %}{{ m.keys() | sort | join(' ') }};{% endfor %}"
    for key in ("thinking", "reasoning", "reasoning_content"):
        message = {"role": "assistant", "content": None, key: "Hm."}
        text = rendered(shown, messages=[message]).text
        assert set(text.strip(";").split()) == {"role", key, "thinking", "reasoning_content"}
    assert (
        rendered("{{ messages[0].thinking }}", messages=[{"thinking": "a", "reasoning_content": "b"}]).text
        == "a"
    )


@settings(max_examples=a_fiftieth_of(2000), deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    )
)
def test_json_in_a_template_is_that_of_python_with_all_letters(value: Any):
    assert rendered("{{ tools | tojson }}", tools=value).text == json.dumps(value, ensure_ascii=False)


@settings(max_examples=a_fiftieth_of(2000), deadline=None)
@given(st.text(alphabet="ab <>&\"'{}%#\n", max_size=30))
def test_texts_come_out_as_they_went_in(content: str):
    chat = rendered("{{ messages[0].content }}", messages=[{"role": "user", "content": content}])
    assert chat == RenderedChat(content)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update(role='x') }}",
        "{{ dict.__class__.mro }}",
        "{{ namespace(__class__=1) }}",
        "{% set ns = namespace() %}{% set ns.__init__ = 1 %}",
        "{{ raise_exception.__globals__.sys }}",
        "{{ strftime_now.__globals__.json }}",
        "{{ (messages | map(attribute='__class__') | list)[0].__mro__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ ('{0.__class__.__mro__}'.format)(1) }}",
        "{{ lipsum.__globals__['os'] }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
    ],
)
def test_a_template_cannot_reach_outside(template: str):
    assert rendered(template).refusal


@pytest.mark.long
@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10 ** 11 }}",
        "{% set ns = namespace(x='a' * 1000) %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% for i in range(1000) %}{{ 'a' * 1000000 }}{% endfor %}",
        "{{ 'a'.center(10 ** 11) }}",
        "{{ range(10 ** 9) | list }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    ],
)
def test_a_template_that_wants_much_is_refused(template: str):
    (chat,) = render_apart(template, [{"messages": [USER]}])
    assert chat.refusal and not chat.text


def test_a_template_that_does_not_end_is_ended():
    template = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    chat, other = render_apart(template, [{"messages": [USER]}] * 2, seconds=1)
    assert "1 s of processor time" in chat.refusal and chat == other


def test_a_process_of_its_own_gives_the_same():
    chats = [{"messages": [{**USER, "content": content}]} for content in ("ü", "\ud800", "")]
    template = "{{ messages[0].content }}"
    assert render_apart(template, chats) == render_chats(template, chats)


def test_a_process_that_cannot_render_is_not_taken_for_a_template_that_wants_much(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "jinja2").mkdir()
    (tmp_path / "jinja2" / "__init__.py").write_text("raise ImportError('a broken package')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(DataError, match="a broken package"):
        render_apart("{{ messages[0].content }}", [{"messages": [USER]}])
