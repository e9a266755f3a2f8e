"""English wording of the prompts of Normal and Special records: our own, telling what section 3 says each must tell."""

from wildtool.benchmarks.acebench.prompts.request_texts import (
    PROBLEM_MESSAGES,
    NormalTexts,
    PromptTexts,
    SpecialTexts,
)

_FORMAT = """\
Write [ApiName(key1='value1', key2='value2', ...)] with real API names, parameter names and values. The first character \
of your answer is [ and the last one is ]."""
_SEVERAL = """\
Put several requests into the same pair of brackets, separated by commas: \
[First(...), Second(...)]. Write nothing else."""
_EMPTY = "Write a call of an API without parameters as [ApiName()]. Never make up names of parameters."

_NORMAL = NormalTexts(
    role="""\
You are an AI assistant whose role is called "assistant". You get descriptions of APIs and the conversation of steps 1 \
to t. Produce the API requests that the assistant makes in step t+1.""",
    format=_FORMAT,
    several=_SEVERAL,
    optional="""\
Take a parameter as optional unless its description says otherwise: give those that the user mentions, leave out the \
rest.""",
    own_words="Where a description sets no format, take the value in the words of the user.",
    empty=_EMPTY,
    minimal="""\
You are the assistant. Answer the conversation with API requests only.
Format: [ApiName(key1='value1', key2='value2', ...), ...]""",
    native="""\
You are an AI assistant. Answer the last message of the user by calling the tools you are offered; make several calls at \
once where several are needed.""",
)
_PREFERENCE = NormalTexts(
    role="""\
You are an AI assistant whose role is called "assistant". You get descriptions of APIs, the conversation of steps 1 to t \
and a profile of the user. Produce the API requests that the assistant makes in step t+1.""",
    format=_FORMAT,
    several=_SEVERAL,
    optional="""\
Take a parameter as optional unless its description says otherwise: give those that the user mentions or that the \
profile tells, leave out the rest.""",
    own_words="Where a description sets no format, take the value in the words of the user or of the profile.",
    empty=_EMPTY,
    minimal="""\
You are the assistant. Answer the conversation with API requests only; the profile tells what the user does not say.
Format: [ApiName(key1='value1', key2='value2', ...), ...]""",
    native="""\
You are an AI assistant. Answer the last message of the user by calling the tools you are offered; make several calls at \
once where several are needed. The profile tells what the user does not say.""",
)
_CASES = f"""\
If the request is unclear, incomplete, wrong or out of reach, point that out by these messages, their brackets filled \
in. They have priority in this order; take care to tell 1 and 2 apart:
{PROBLEM_MESSAGES}
Message 1: all key details are there, but the type or form of a value contradicts the description of its parameter.
Message 2: key details are missing.
Message 3: the request is beyond what the APIs can do."""
_SPECIAL = SpecialTexts(
    role="""\
You are an AI assistant whose role is called "assistant". You get descriptions of APIs and the conversation of steps 1 \
to t. Decide whether the user's request can be served, and answer in step t+1 accordingly.""",
    solvable=f"""\
If the request is clear and can be served:
- {_NORMAL.own_words}
- If several of the APIs fit, write the requests to all of them.
- {_FORMAT} {_SEVERAL}""",
    unsolvable=_CASES,
    format=f"""\
If the request can be served: {_FORMAT}
If it cannot, write one of these messages (1 for a wrong value, 2 for missing details, 3 for what no API can do):
{PROBLEM_MESSAGES}""",
    minimal=f"""\
You are the assistant. Answer with API requests, [ApiName(key1='value1', ...), ...], or, where that cannot be done \
because of a wrong value (1), missing details (2) or the limits of the APIs (3), with a message:
{PROBLEM_MESSAGES}""",
    native=f"""\
You are an AI assistant. Decide whether the request in the last message of the user can be served.
If it is clear and can be served, call the tools you are offered; if several of them fit, call all of them. \
{_NORMAL.own_words}
{_CASES}
Write such a message as your text and call no tool then. ApiName stands for the name of a tool.""",
)

REQUEST_TEXTS = PromptTexts(
    normal=_NORMAL,
    preference=_PREFERENCE,
    special=_SPECIAL,
    profile_heading="Profile of the user:",
    roles="Roles: user; assistant, who makes API requests; tool, which returns their results.",
    special_roles="Roles: user; assistant, who makes API requests.",
    apis_heading="APIs:",
    history_heading="Conversation, steps 1..t:",
)
