"""The shape of the texts that Normal and Special records are prompted with, and the three messages of the contract."""

from dataclasses import dataclass

INCORRECT_MESSAGE = (
    '["There is incorrect value ({values}) for the parameters ({keys}) in the conversation history."]'
)
MISSING_MESSAGE = '["Missing necessary parameters ({keys}) for the api ({api})"]'
LIMITATIONS_MESSAGE = '["Due to the limitations of the function, I cannot solve this problem."]'
PROBLEM_MESSAGES = "\n".join(
    (
        f"1. {INCORRECT_MESSAGE.format(values='value', keys='key')}",
        f"2. {MISSING_MESSAGE.format(keys='key1, key2, ...', api='ApiName')}",
        f"3. {LIMITATIONS_MESSAGE}",
    )
)
"""What a Special record is answered with (section 4): part of the task's definition, English in both languages."""


@dataclass(frozen=True, slots=True)
class NormalTexts:
    """The wording for Normal records; preference records, which give a profile, have their own."""

    role: str
    format: str
    several: str
    optional: str
    own_words: str
    empty: str
    minimal: str
    """Role and format in two short lines."""
    native: str
    """The same rules for a model that makes native tool calls."""


@dataclass(frozen=True, slots=True)
class SpecialTexts:
    """The wording for Special records."""

    role: str
    solvable: str
    """What to do where the request is clear."""
    unsolvable: str
    """When to give which of the three messages."""
    format: str
    """Both kinds of output in short."""
    minimal: str
    native: str
    """The rules for a model that makes native tool calls."""


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """One language's wording."""

    normal: NormalTexts
    preference: NormalTexts
    special: SpecialTexts
    profile_heading: str
    roles: str
    special_roles: str
    apis_heading: str
    history_heading: str
    """First line of the user message."""
