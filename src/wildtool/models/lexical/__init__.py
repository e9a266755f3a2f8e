"""`baseline/lexical`: an agent without a language model, by word overlap and values of the right form."""

from wildtool.models.lexical.agent import LexicalAgent as LexicalAgent
