"""What the readers of exact texts and the reader of words give, whole."""

import pytest

from wildtool.toolcall.text.canonical import (
    read_code,
    read_email,
    read_grouped_digits,
    read_iban,
    read_ip,
    read_moment,
    read_numeric,
    read_path,
    read_postal_address,
    read_url,
)
from wildtool.toolcall.text.porter_stemmer import stem_word
from wildtool.toolcall.text.tokens import tokens
from wildtool.toolcall.text.wordings import IN_DIGITS, IN_WORDS, reworded


@pytest.mark.parametrize(
    ("reader", "text", "form"),
    [
        (read_moment, "9点", "09:00"),
        (read_moment, "0:30", "00:30"),
        (read_moment, "00:05:07", "00:05:07"),
        (read_moment, "12am", "00:00"),
        (read_moment, "13pm", None),
        (read_moment, "0am", None),
        (read_moment, "中午11点", "11:00"),
        (read_moment, "晚上12点", None),
        (read_moment, "晚上11点半", "23:30"),
        (read_moment, "10:00-02:00", None),
        (read_moment, "2024-05-06T10:00-02:00", "2024-05-06 10:00 -02:00"),
        (read_moment, "0000-01-01", None),
        (read_moment, "9", None),
        (read_moment, "12", None),
        (read_moment, "", None),
        (read_moment, "晚上11点", "23:00"),
        (read_moment, "下午12点", "12:00"),
        (read_moment, "中午12点", "12:00"),
        (read_moment, "凌晨12点", "00:00"),
        (read_moment, "10:00:00.000", "10:00"),
        (read_moment, "10:00Z", "10:00 +00:00"),
        (read_moment, "10:00+0530", "10:00 +05:30"),
        (read_moment, "2024-02-30", None),
        (read_moment, "2024-05/06", None),
        (read_moment, "5th of May, 2024 at 3.05 p.m.", "2024-05-05 15:05"),
        (read_moment, "May 5th 2024, 10:00", "2024-05-05 10:00"),
        (read_moment, "2024年5月6日9点5分", "2024-05-06 09:05"),
        (read_ip, "2001:DB8::1", "2001:db8::1"),
        (read_ip, "1.2.3.256", None),
        (read_email, f"mailto:{'A' * 64}@b.org", f"{'a' * 64}@b.org"),
        (read_email, f"{'A' * 65}@b.org", None),
        (read_path, "/", "/"),
        (read_path, "~/a/", "~/a"),
        (read_path, "C:/a/", "C:\\a"),
        (read_path, "C:/", "C:\\"),
        (read_grouped_digits, "415 555.0100", None),
        (read_grouped_digits, "415.555.0100", "4155550100"),
        (read_grouped_digits, "4155.550100", None),
        (read_grouped_digits, "+1 4 15 55 01", "+14155501"),
        (read_grouped_digits, "1 41 55 50 10", "141555010"),
        (read_grouped_digits, "12345-6-789", None),
        (read_grouped_digits, "123456", None),
        (read_grouped_digits, "1234567890123456789", "1234567890123456789"),
        (read_grouped_digits, "12345678901234567890", None),
        (read_postal_address, "海淀区1号", "海淀区1号"),
        (read_postal_address, "北京市人民", None),
        (read_postal_address, "我在北京市海淀区", None),
        (read_postal_address, "12 " + "a " * 14 + "road", "12 " + "a " * 14 + "rd"),
        (read_postal_address, "12 " + "a " * 15 + "road", None),
        (read_postal_address, "Street 12 North", None),
        (read_url, "HTTP://U:P@X.org:80/A/", "http://U:P@x.org/A"),
        (read_url, "https://x.org:80/a/?", "https://x.org:80/a/?"),
        (read_url, "FILE:///a/B/", "file:///a/B"),
        (read_url, "www.X.org", "none://www.x.org"),
        (read_url, "https://x.org:1a/", "https://x.org:1a/"),
        (read_url, "https://x.org/a/#b", "https://x.org/a/#b"),
        (read_url, "https://x.org/a b", None),
        (read_url, "x.org/a", None),
        (read_iban, "gb82 WEST 1234 5698 7654 32", "GB82WEST12345698765432"),
        (read_iban, "DE89" + "3" * 10, None),
        (read_iban, "DE89" + "3" * 11, "DE89" + "3" * 11),
        (read_iban, "DE89" + "3" * 30, "DE89" + "3" * 30),
        (read_iban, "DE89" + "3" * 31, None),
        (read_iban, "DE89" + "3" * 30 + " " * 8, "DE89" + "3" * 30),
        (read_iban, "DE89" + "3" * 30 + " " * 9, None),
        (read_numeric, "1 , 2 ; ( 3 % )", "1,2;(3%)"),
        (read_numeric, "- ,", None),
        (read_numeric, "5 a", None),
        (read_grouped_digits, "1234567", "1234567"),
        (read_grouped_digits, "12 34 56", None),
        (read_grouped_digits, "(1234567", "1234567"),
        (read_grouped_digits, "+(12) 345678", "+12345678"),
        (read_grouped_digits, "12(345678", None),
        (read_grouped_digits, "2015-2020", None),
        (read_grouped_digits, "2015-2120", "20152120"),
        (read_grouped_digits, "1 " * 15 + "12", None),
        (read_grouped_digits, "+" + "1 " * 15 + "1", "+" + "1" * 16),
        (read_grouped_digits, "+" + "1 " * 15 + "12", None),
        (read_postal_address, "12 a road", "12 a rd"),
        (read_postal_address, "12 road", None),
        (read_postal_address, "a road 12", "a rd 12"),
        (read_postal_address, "flat a road", "flat a rd"),
        (read_postal_address, "road a 12", None),
        (read_postal_address, "12a O'Hara Street.", "12a ohara st"),
        (read_postal_address, "海淀区 学院路, 1", "海淀区学院路1"),
        (read_code, "a_1, B-52", "a_1,B-52"),
        (read_code, "a_1, word", None),
        (read_code, "word", None),
        (read_code, "camelCase", "camelCase"),
        (read_code, "co-op", None),
        (read_code, "a_1!", "a_1!"),
        (read_code, "c++", "c++"),
        (read_code, "C++!", "c++"),
        (read_code, "...", "..."),
        (read_code, "", None),
        (read_code, "a_1 b", None),
    ],
)
def test_an_exact_text_has_one_form(reader, text, form):
    assert reader(text) == form


@pytest.mark.parametrize(
    ("wordings", "text", "plain"),
    [
        (IN_WORDS, "2.500,75", "2500.75"),
        (IN_WORDS, "€5,75", "€5.75"),
        (IN_WORDS, "one half", "1/2"),
        (IN_WORDS, "half a cup", "1/2 cup"),
        (IN_WORDS, "half an hour", "half an hour"),
        (IN_WORDS, "一点五公里", "1.5公里"),
        (IN_WORDS, "一米八", "1.8米"),
        (IN_WORDS, "两块五", "2.5元"),
        (IN_WORDS, "三成", "百分之三十"),
        (IN_WORDS, "1.234.567,89", "1234567.89"),
        (IN_WORDS, "12,34 €", "12.34 €"),
        (IN_WORDS, "第2024年", "第2024年"),
        (IN_WORDS, "first quarter of 2024", "2024-Q1"),
        (IN_WORDS, "Q2 2024", "2024-Q2"),
        (IN_WORDS, "2024年第四季度", "2024-Q4"),
        (IN_WORDS, "2024年三季度", "2024-Q3"),
        (IN_DIGITS, "1.5k", "1500"),
        (IN_DIGITS, "1/2", "0.5"),
        (IN_DIGITS, "1/3", "1/3"),
        (IN_DIGITS, "3/5", "0.6"),
        (IN_DIGITS, "5/8", "0.625"),
        (IN_DIGITS, "1/6", "1/6"),
        (IN_DIGITS, "1/9", "1/9"),
        (IN_DIGITS, "5/11", "5/11"),
        (IN_DIGITS, "1 1/2", "1.5"),
        (IN_DIGITS, "2 3/4 cups", "2.75 cups"),
        (IN_DIGITS, "a quarter after 12", "12:15"),
        (IN_DIGITS, "5 past 1", "1:05"),
        (IN_DIGITS, "quarter to 1", "12:45"),
        (IN_DIGITS, "a quarter of 12", "11:45"),
        (IN_DIGITS, "0 minutes to 9", "0 minutes to 9"),
        (IN_DIGITS, "1 minute to 9", "8:59"),
        (IN_DIGITS, "差一刻9点", "8:45"),
        (IN_DIGITS, "差5分到9点", "8:55"),
        (IN_DIGITS, "1点差5分", "12:55"),
        (IN_DIGITS, "9点差0分", "9点差0分"),
        (IN_DIGITS, "60 minutes to 9", "60 minutes to 9"),
        (IN_DIGITS, "59 minutes to 2", "1:01"),
        (IN_DIGITS, "9点差一刻", "8:45"),
        (IN_DIGITS, "9点差5分", "8:55"),
        (IN_DIGITS, "9点差60分", "9点差60分"),
        (IN_DIGITS, "1/4", "0.25"),
        (IN_DIGITS, "3/10", "0.3"),
        (IN_DIGITS, "2/4 cup", "2/4 cup"),
    ],
)
def test_a_wording_has_one_form(wordings, text, plain):
    assert reworded(text, wordings) == plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("about cats", "about/function cats/word"),
        ("about 5 cats", "about/word 5/number cats/word"),
        ("iPhone的", "iphone/word 的/word"),
        ("猫的", "猫/word 的/article"),
        ("Henry VIII", "henry/word 8/number"),
        ("Henry V", "henry/word v/name"),
        ("A级", "A/name 级/word"),
        ("IT", "IT/name"),
        ("an IT team", "an/article IT/name team/word"),
        ("Look! It is", "look/word it/function is/function"),
        ("en-US", "en/word us/word"),
        ("we won't", "we/word will/function not/negation"),
        ("twenty one cats and two hundred", "21/number cats/word and/function 200/number"),
        ("一张 两张", "1/one 张/word 2/number 张/word"),
        ("☀ + x", "☀/word +/symbol x/word"),
        ("Bob I", "bob/word i/word"),
        ("ALL IN CAPS", "all/marker in/function caps/word"),
        ("5 M cats", "5/number M/marker cats/word"),
        ("on Monday", "on/article monday/day"),
        ("on top", "on/function top/marker"),
        ("all about", "all/marker about/function"),
        ("it isn't so", "it/function is/function not/negation so/function"),
        (
            "can't cannot shan't",
            "can/function not/negation can/function not/negation shall/function not/negation",
        ),
        ("it's Bob's", "it/function is/function bob/name"),
        ("let's go", "let/word us/word go/word"),
        ("I'd go", "i/word go/word"),
        ("mosts", "most/marker"),
        ("plan A", "plan/word A/name"),
        ("A plan", "a/article plan/word"),
        ("the US", "the/article US/name"),
        ("IT US", "it/function us/word"),
        ("1,234 1,23 .5", "1234/number 1,23/number .5/number"),
        ("(a_b).", "a_b/exact"),
        ("One two", "1/one 2/number"),
        ("#5", "#/symbol 5/number"),
    ],
)
def test_words_have_keys_and_sorts(text, words):
    assert " ".join(f"{token.key}/{token.sort}" for token in tokens(text)) == words


def test_a_contraction_is_cut_where_its_words_meet():
    assert [token.raw for token in tokens("it's what we've said, isn't it")] == [
        "it",
        "s",
        "what",
        "we",
        "ve",
        "said",
        "isn't",
        "isn't",
        "it",
    ]


def test_a_chinese_character_weighs_half_a_word():
    assert [token.weight for token in tokens("猫 cats I")] == [0.5, 1.0, 1.0]


STEMS = """be be ties tie flies fli caresses caress glass glass gas ga agreed agre feed feed died die cried cri sing sing
troubled troubl sized size hopping hop falling fall filing file snowed snow say say dry dri enjoy enjoy radically radic
analogy analog logi logi formalize formal adoption adopt ion ion homologou homolog rate rate cease ceas roll roll
controll control toy toy syzygy syzygi yes ye"""


def test_stems_are_those_that_porter_gives():
    words = STEMS.split()
    assert [stem_word(word) for word in words[::2]] == words[1::2]
