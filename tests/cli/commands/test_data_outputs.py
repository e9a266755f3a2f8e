"""What `wildtool data` prints for training files, word by word: standard output, standard error, exit status."""

from pathlib import Path
from typing import Any

import pytest

from training.training_rows import call_row, text_row, turn, write_rows
from wildtool.errors import UsageError
from wildtool_data.commands.data.recipe import _setting, _share  # pyright: ignore[reportPrivateUsage]

QUESTION = "What is the weather in Oslo?"


def words(k: int) -> str:
    return " ".join(f"word{k}x{j}" for j in range(12))


def rows(count: int) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(count)]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The training files that the commands read."""
    monkeypatch.chdir(tmp_path)
    unended = {**text_row("a"), "id": "r7"}
    unended["conversations"].append(turn("human", "b"))
    write_rows(Path("good.jsonl"), rows(30))
    write_rows(Path("bad.jsonl"), [*rows(3), unended, 5])
    write_rows(Path("dup.jsonl"), [*rows(3), rows(3)[1], call_row(f"{words(1)} more")])
    write_rows(
        Path("bench.jsonl"),
        [text_row(QUESTION), call_row("Level at Husum harbour?", "Husum harbour"), text_row("Yes")],
    )
    shown = [
        text_row(QUESTION.upper()),
        text_row("x", f"a {QUESTION}"),
        {**text_row("y"), "system": f"Now. {QUESTION}"},
    ]
    write_rows(Path("over.jsonl"), [*rows(4), *shown, call_row("z", "husum harbour")])
    write_rows(Path("src.jsonl"), [{**text_row(words(k)), "source": "ab"[k % 2]} for k in range(3)])
    unlearned = {"role": "assistant", "content": "r", "weight": 0}
    thought = {"role": "assistant", "content": "s", "reasoning_content": "Hm."}
    user = {"role": "user", "content": "q"}
    write_rows(
        Path("talk.jsonl"),
        [{"messages": [user, unlearned, user, thought], "topic": 1, "id": 1}, {"messages": []}],
    )


# Lines and options -----------------------------------------------------------------------------------


def test_shares_and_settings_of_a_recipe():
    assert [float(_share(text)) for text in ("1", "1/4", "0.5")] == [1, 0.25, 0.5]
    for text in ("0", "-1", "1/0", "x", "1.01"):
        with pytest.raises(UsageError) as refused:
            _share(text)
        parts = "is not a part of the data; give parts such as 1/16,1/4,1 or 0.1,0.5,1"
        assert str(refused.value) == f"--curve: {text!r} {parts}"
    values = (" a =1", "a=2e-5", "a=true", 'a="x"', "a=x=y", "a=")
    assert [_setting(text) for text in values] == [
        ("a", 1),
        ("a", 2e-5),
        ("a", True),
        ("a", "x"),
        ("a", "x=y"),
        ("a", ""),
    ]
    for text in ("=3", "a", " =3"):
        with pytest.raises(UsageError) as refused:
            _setting(text)
        assert str(refused.value) == f"--set {text}: give a key and a value, such as --set learning_rate=2e-5"
