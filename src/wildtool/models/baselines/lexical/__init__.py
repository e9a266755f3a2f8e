"""`baseline/lexical`: an agent without a language model. Read conversation -> rank -> values -> fill -> answer."""

from wildtool.models.baselines.lexical.answer import answer as answer
