"""What the web's endpoint is asked for a call, what the model is shown of its answer, and the text of pages."""

import json
from typing import Any

import pytest

from wildtool.benchmarks.bfcl.web_search import page_text, web_request, web_result

SEARCH = {"tool": "search_engine_query", "keywords": "a b", "max_results": 2, "region": "wt-wt"}


@pytest.mark.parametrize(
    ("call", "request_"),
    [
        ("search_engine_query('a b')", {**SEARCH, "max_results": 10}),
        ("search_engine_query('a b', 2, 'us-en')", {**SEARCH, "region": "us-en"}),
        ("search_engine_query(keywords='a b', region=5, max_results=2)", {**SEARCH, "region": "5"}),
        (
            "search_engine_query()",
            "search_engine_query takes keywords, max_results, region, of which the first must be a text",
        ),
        (
            "search_engine_query(5)",
            "search_engine_query takes keywords, max_results, region, of which the first must be a text",
        ),
        (
            "search_engine_query('a', zz=1)",
            "search_engine_query takes keywords, max_results, region, of which the first must be a text",
        ),
        ("search_engine_query('a', '2')", "max_results must be a whole number"),
        ("fetch_url_content('https://a')", {"tool": "fetch_url_content", "url": "https://a", "mode": "raw"}),
        (
            "fetch_url_content('http://a', mode='truncate')",
            {"tool": "fetch_url_content", "url": "http://a", "mode": "truncate"},
        ),
        ("fetch_url_content('ftp://a')", "the address must begin with http:// or https://"),
        ("fetch_url_content('http://a', 'pdf')", "mode must be one of raw, markdown, truncate"),
        ("fetch_url_content(url=1)", "fetch_url_content takes url, mode, of which the first must be a text"),
        ("other('a')", "no tool has the name 'other'"),
        ("fetch_url_content", "expected a call, found 'fetch_url_content'"),
    ],
)
def test_a_call_becomes_a_request_or_is_refused(call: str, request_: Any) -> None:
    if isinstance(request_, str):
        with pytest.raises(ValueError) as caught:
            web_request(call)
        assert str(caught.value) == request_
    else:
        assert web_request(call) == request_


PAGES = [{"title": "t", "href": "h", "body": "b", "more": 1}, {"title": 5}, "x", {"body": "c"}]


@pytest.mark.parametrize(
    ("mode", "answer", "snippets", "result"),
    [
        (
            None,
            PAGES,
            True,
            [{"title": "t", "href": "h", "body": "b"}, {"title": "5", "href": "", "body": ""}],
        ),
        (None, PAGES, False, [{"title": "t", "href": "h"}, {"title": "5", "href": ""}]),
        (None, [], True, []),
        (None, {"error": 5}, True, {"error": "5"}),
        (None, {"content": "x"}, True, {"error": "the search gave no results"}),
        (None, None, True, {"error": "the search gave no results"}),
        ("raw", {"content": "<p>a</p>"}, True, {"content": "<p>a</p>"}),
        ("markdown", {"content": "<h1>a</h1>"}, True, {"content": page_text("<h1>a</h1>", marked=True)}),
        ("truncate", {"content": "<p>a</p>b"}, True, {"content": "a\nb"}),
        ("raw", {"content": 5}, True, {"error": "the page could not be read"}),
        ("raw", [], True, {"error": "the page could not be read"}),
        ("raw", {"content": "x", "error": "gone"}, True, {"error": "gone"}),
    ],
)
def test_an_answer_is_shown_as_the_tool_gives_it(
    mode: str | None, answer: Any, snippets: bool, result: Any
) -> None:
    asked = SEARCH if mode is None else {"tool": "fetch_url_content", "url": "u", "mode": mode}
    text = None if answer is None else json.dumps(answer)
    assert web_result(asked, text, snippets=snippets) == result


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json_is_no_result(text: str) -> None:
    assert web_result(SEARCH, text, snippets=True) == {"error": "the search gave no results"}


@pytest.mark.parametrize(
    ("html", "plain", "marked"),
    [
        (
            "<h1>Tea</h1><p>It is <a href='/c'>dear</a>.<ul><li>One</ul>",
            "Tea\nIt is\ndear\n.\nOne",
            "# Tea\n\n\n\nIt is [dear](/c).\n  * One",
        ),
        ("a  <b>b</b>\n c ", "a\nb\nc", "a b c"),
        ("<!-- x --><p>a</p><!-- y", "a", "a"),
        ("a<script>x<b></script>b<STYLE>y</style>c", "a\nb\nc", "abc"),
        ("a<script>x", "a", "a"),
        ("1 < 2 &amp; 3", "1\n< 2 & 3", "1 < 2 & 3"),
        ("1 < 2 > 3", "1\n<\n2 > 3", "1 < 2 > 3"),
        ("a <!doctype x>b</ p>c", "a\nb\nc", "a bc"),
        ("a <b", "a\n<b", "a <b"),
        ("a<!-- <b>x</b> -->b<!-- open", "a\nb", "ab"),
        ("<!doctype html><p>ok", "ok", "ok"),
        ("<SCRIPT>x < y</script >z", "z", "z"),
        ("<br>a<div>b</div>c<tr>d", "a\nb\nc\nd", "a\nb\n\nc\nd"),
        (
            "<a href=\"u\">x</a> <a href='v'>y</a> <a href=w>z</a> <a>q</a></a>",
            "x\ny\nz\nq",
            "[x](u) [y](v) [z](w) [q]()",
        ),
        ("", "", ""),
        ("<p></p>", "", ""),
    ],
)
def test_a_page_is_its_texts(html: str, plain: str, marked: str) -> None:
    assert page_text(html, marked=False) == plain
    assert page_text(html, marked=True) == marked
