"""What `--noise` takes."""

import pytest

from wildtool.alter.noise.noise import NOISE_KINDS, Noise
from wildtool.alter.noise.renames import Level
from wildtool.errors import RecordError, UsageError


@pytest.mark.parametrize("text", ["names:heavy", "names:3", " names : heavy "])
def test_a_level_is_a_word_or_a_number(text: str):
    assert Noise.parse(text) == Noise({"names": Level.heavy})


def test_kinds_are_in_one_order_so_that_equal_noise_has_one_name():
    assert str(Noise.parse("order:slight,names:medium")) == "names:medium,order:slight"


def test_descriptions_can_be_missing_where_names_are_nearly_the_old_ones():
    text = "names:slight,params:slight,missing:heavy"
    assert str(Noise.parse(text)) == text
    assert str(Noise.parse("names:heavy,params:heavy,missing:none")) == "names:heavy,params:heavy"


@pytest.mark.parametrize("text", ["names:none", "names:0,order:none"])
def test_the_level_none_is_no_noise(text: str):
    noise = Noise.parse(text)
    assert not noise
    assert noise.label == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nams:heavy", "did you mean 'names'"),
        ("names:strong", "unknown level 'strong'"),
        ("names", "names has no level"),
        ("names:heavy,names:slight", "names names twice"),
        ("", "unknown kind of noise"),
        ("names:medium,missing:slight", "alone say"),
        ("names:slight,params:medium,missing:slight", "alone say"),
    ],
)
def test_a_mistake_is_told(text: str, told: str):
    with pytest.raises(UsageError, match=told):
        Noise.parse(text)


@pytest.mark.parametrize("kind", NOISE_KINDS)
@pytest.mark.parametrize("level", list(Level)[1:])
def test_a_record_names_the_noise(kind: str, level: Level):
    noise = Noise({kind: level}, 7)
    assert Noise.recorded(noise.identity()) == noise


@pytest.mark.parametrize(
    "damaged", [3, {"levels": "names:heavy"}, {"levels": "x:y", "seed": 0}, {"levels": 1, "seed": 0}]
)
def test_a_damaged_record_is_told(damaged: object):
    with pytest.raises(RecordError, match=r"identity\.noise"):
        Noise.recorded({"noise": damaged})
