"""What all agent episodes share, whatever the profile: dialogue, budget of messages, sandbox, simulated user.

The simulated user is a role of the episode's requests: the same machine asks the model under test (`agent`) and the
simulator (`user`), so that both are recorded and replayed alike. Without a model the user tells its wishes, answers by
its own instruction, confirms, and ends when all is done; everything it says is a function of the seed, its instruction
and what was said, so a run with it can be repeated.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.own import user_messages
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition, Lang
from wildtool.draws import seeded_draw
from wildtool.types import Message, Request

END_MARK = "finish conversation"
MAX_MESSAGES = 40
"""Messages of any sender that an episode may take after its first."""
EPISODE_MESSAGES = "max_dialog_turns"
"""Key of an imported episode's first reply: how many messages it could take, where that is more than `MAX_MESSAGES`."""

DialogueRole = Literal["user", "agent", "execution"]


@dataclass(frozen=True, slots=True)
class DialogueMessage:
    """One message of the dialogue."""

    sender: DialogueRole
    recipient: DialogueRole
    message: str | list[Any]
    """Text; of the sandbox mostly the list of results."""


MAX_AGENT_CHARACTERS = 4_000
"""Characters of the agent's text that the user reads."""


@dataclass(frozen=True, slots=True)
class _Wording:
    """One language's ways to say a thing, chosen by seed and turn."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    go_on: tuple[str, ...]
    lead: tuple[str, ...]
    hello: tuple[str, ...]


_WORDS: dict[Lang, _Wording] = {
    "en": _Wording(
        yes=("Yes.", "Yes, please.", "Yes, go ahead.", "That is right, please do."),
        no=("No, thank you.", "No, that is not needed.", "No, only what I asked for."),
        go_on=("Please go on with what I told you.", "Please continue.", "Go ahead, please."),
        lead=("", "Sure: ", "Of course. ", "Here you are: "),
        hello=("", "Hello. ", "Hi! ", "Good day. "),
    ),
    "zh": _Wording(
        yes=("是的。", "好的，请继续。", "对，请这样做。", "可以，麻烦你了。"),
        no=("不用了，谢谢。", "不需要。", "不用，只做我说的就行。"),
        go_on=("请按我说的继续。", "请继续。", "好，请接着做。"),
        lead=("", "好的，", "当然。", "是这样的："),
        hello=("", "你好。", "您好，", "你好，麻烦一下。"),
    ),
}
_QUOTED = re.compile(r"""(“[^”]*”|"[^"]*"|(?<!\w)'[^']*'(?!\w))""")
_SENTENCE_ENDS = re.compile(r"""(?<=[.!?])\s+|(?<=[.!?]['"”])\s+|(?<=[。！？])(?![”"'’。])""")
# Directions to the actor, which nobody says aloud.
_DIRECTIONS = re.compile(
    r"You will respond to the agent[^.]*\.|你会对agent做出反应[，,]?|但不会主动提供任何未被询问的信息[，,。]?"
)
_FIRST_PERSON = (
    (re.compile(r"\b[Yy]ou are\b"), "I am"),
    (re.compile(r"\b(to|for|with|from|sent|give|tell) you\b"), r"\1 me"),
    (re.compile(r"\bYour\b"), "My"),
    (re.compile(r"\byour\b"), "my"),
    (re.compile(r"\b[Yy]ou\b"), "I"),
    (re.compile("你"), "我"),
)
_ALL_DONE = re.compile(
    r"anything else|all (?:tasks|steps|requests|done|set|finished|completed)|everything (?:is|has been|was) "
    r"|全部完成|都已完成|已全部|均已完成|还有(?:什么|其他)|其他需要",
    re.IGNORECASE,
)
_PROPOSAL = re.compile(
    r"\b(?:confirm|shall i|should i|may i|can i|would you like|do you want|do you wish|proceed)"
    r"|\b(?:correct|right|ok|okay)\?"
    r"|确认|是否|要不要|需要我|可以吗|好吗|对吗|行吗|要我",
    re.IGNORECASE,
)
_TOPICS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bremind|提醒",
        r"\brepl(?:y|ies)|\bsend|\btext (?:back|him|her)|回复|发送|发短信|发一条|发消息",
        r"\border|deliver|takeout|外卖|点一|下单",
        r"\bdelet|\bremov|删除",
        r"\bcancel|\brefund|取消|退款",
        r"\bbag|\bluggage|行李",
        r"\bflight|\bbook|\breserv|\bticket|航班|机票|预[订定]",
    )
)
_OPEN_ENDED = re.compile(r"\btasks?\b|\brequest|任务|请求|事项", re.IGNORECASE)
"""Of wishes that stand elsewhere the instruction does not say which they are."""
_OPEN_QUESTION = re.compile(
    r"\b(?:which|what|when|where|how|who|whom|whose)\b|哪|什么|几|多少|怎么|怎样|何时|谁", re.IGNORECASE
)
"""What cannot be answered by yes or no."""
_SAME_WORDS = tuple(
    (re.compile(pattern), f" {word} ")
    for pattern, word in (
        (r"\bbags?\b|\bbaggage\b|行李", "luggage"),
        (r"\buser ?(?:id|name)\b|\baccounts?\b|\busername\b|账号|账户|帐号|用户名?(?:id)?", "account"),
        (r"密码", "password"),
        (r"\bpay(?:ing)?\b|支付|付款", "payment"),
        (r"\bcabin\b|\bseat\b|\beconomy\b|\bbusiness\b|舱位?|座位", "class"),
        (r"\bdates?\b|\bwhen\b|\bdays?\b|\bjuly\b|日期|几号|哪天|什么时候|时间|\d月", "date"),
        (r"\bdepart(?:ure)?\b|\borigin\b|\bresiding\b|\bfrom\b|出发|居住|从", "origin"),
        (r"\bdestination\b|\btravel\b|目的|前往|想[要去]?去|到达", "destination"),
        (r"\bcontents?\b|\bsay\b|内容", "content"),
    )
)
"""Different words, in both languages, that ask for or give the same."""
_WORD = re.compile(r"[a-z0-9]+|[㐀-鿿]+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an the of to for in on is are be am i you me my your it its and or with please could would can do does have "
        "has what which who how when where that this need want will provide tell give know let so we if as at by from"
    )
)


def style_seed(style: str) -> int:
    """The seed in a style such as `cooperative 7`; 0 for any other style."""
    match = re.fullmatch(r"cooperative (\d{1,18})", style, re.ASCII)
    return int(match[1]) if match else 0


def cooperative_text(
    seed: int, lang: Lang, instruction: str, *, agent_texts: Sequence[str], user_texts: Sequence[str]
) -> str:
    """What the user says next.

    Args:
        instruction: who the user is and what it wants, as the record tells it.
        agent_texts: what the agent told the user so far; nothing before the opening.
        user_texts: what the user said so far.
    """
    draw = seeded_draw(hashlib.sha256(f"{seed}/{len(user_texts)}/{lang}".encode()).digest())
    words = _WORDS[lang]
    wishes = _sentences(instruction)
    separator = " " if lang == "en" else ""
    if not user_texts or not agent_texts:
        return draw.choice(words.hello) + separator.join(wishes)
    text = agent_texts[-1][:MAX_AGENT_CHARACTERS]
    if END_MARK in text.casefold() or _ALL_DONE.search(text):
        return END_MARK
    question = _question(text)
    if _PROPOSAL.search(question) and not _OPEN_QUESTION.search(question):
        return draw.choice(words.yes if _is_accepted(question, instruction) else words.no)
    answer = separator.join(_best_matches(wishes, question))
    if not answer:
        return draw.choice(words.go_on)
    # Who is asked the same thing again tells everything again.
    already = any(answer in earlier for earlier in user_texts[1:])
    return draw.choice(words.lead) + (separator.join(wishes) if already else answer)


def _sentences(instruction: str) -> list[str]:
    """The instruction as the user says it: in the first person, without directions, quoted texts as they are."""
    spoken = "".join(
        part if _QUOTED.fullmatch(part) else _in_first_person(part)
        for part in _QUOTED.split(_DIRECTIONS.sub("", instruction))
    )
    return [sentence.strip() for sentence in _SENTENCE_ENDS.split(spoken) if sentence.strip("。. \n")]


def _question(text: str) -> str:
    """The last sentence that asks something; the whole text where none does."""
    sentences = [sentence for sentence in re.findall(r"[^.。!！?？\n]*[?？]", text) if sentence.strip(" ?？")]
    return sentences[-1] if sentences else text


def _in_first_person(text: str) -> str:
    for pattern, spoken in _FIRST_PERSON:
        text = pattern.sub(spoken, text)
    return text


def _is_accepted(proposal: str, instruction: str) -> bool:
    """Whether the instruction implies a yes: it leaves open what is to be done, or shares a topic, or none is named."""
    topics = [topic for topic in _TOPICS if topic.search(proposal)]
    return (
        not topics
        or _OPEN_ENDED.search(instruction) is not None
        or any(topic.search(instruction) for topic in topics)
    )


def _best_matches(sentences: Sequence[str], question: str) -> list[str]:
    """The sentences that share most words with the question, in order; none where none shares any."""
    words = _words(question)
    shared = [len(words & _words(sentence)) for sentence in sentences]
    most = max(shared, default=0)
    return [s for s, count in zip(sentences, shared, strict=True) if count == most] if most else []


def _words(text: str) -> set[str]:
    """Words but empty ones, without plural, one for all of the same meaning; Chinese as pairs of characters."""
    words: set[str] = set()
    text = text.casefold()
    for pattern, word in _SAME_WORDS:
        text = pattern.sub(word, text)
    for word in _WORD.findall(text):
        if word[0] >= "㐀":
            words.update(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _STOP_WORDS:
            words.add(word.removesuffix("s"))
    return words


class SimulatedUser:
    """One side of a dialogue; from where it stands the agent is the user."""

    def __init__(self, record: AgentRecord, edition: Edition, originals: Originals | None = None) -> None:
        self._originals = originals
        self._record = record
        self._edition = edition
        self._dialogue: list[Message] = []

    def request(self) -> Request:
        """What the model that plays it sees next."""
        opening = user_messages if self._originals is None else self._originals.user_messages
        first = opening(self._edition.lang, self._record.involved_classes, self._record.question)
        return Request((*first, *self._dialogue), role="user", gold=self._cooperative_reply)

    def add_agent_message(self, text: str) -> None:
        """Takes what the agent said to it."""
        self._dialogue.append({"role": "user", "content": text})

    def add_user_message(self, text: str) -> None:
        """Takes what it said itself."""
        # The original gives it the role `system`, which many chat templates allow at the start only.
        self._dialogue.append({"role": "assistant", "content": text})

    def _cooperative_reply(self, style: str) -> Message:
        """What it says without a model."""
        heard, text = (
            [str(message["content"]) for message in self._dialogue if message["role"] == role]
            for role in ("user", "assistant")
        )
        content = cooperative_text(
            style_seed(style), self._edition.lang, self._record.question, agent_texts=heard, user_texts=text
        )
        return {"role": "assistant", "content": content}


class AgentEpisode(ABC):
    """An episode up to its profile's rules; a subclass adds `advance`, what the agent is sent, and when it ends."""

    multi_turn = False
    """Whether the agent talks with a simulated user, who opens; else it works alone on the record's question."""

    def __init__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        max_messages: int = MAX_MESSAGES,
        originals: Originals | None = None,
    ) -> None:
        self.record = record
        self.edition = edition
        self.sandbox = Sandbox(edition, record.involved_classes, record.initial_config)
        self.dialogue: list[DialogueMessage] = []
        self.process: list[str] = []
        """The agent's messages that went to the sandbox, failed ones too; native calls as a bracketed list."""
        self._user = SimulatedUser(record, edition, originals)
        self._messages_left = max_messages
        self._done = False
        self._replies = 0
        self._prepare(originals)
        if not self.multi_turn:
            self._add_user_message(record.question)

    @abstractmethod
    def _prepare(self, originals: Originals | None) -> None:
        """Sets up what the agent is sent, before the first message."""

    @abstractmethod
    def _agent_request(self) -> Request: ...

    @abstractmethod
    def _show_user_message(self, text: str) -> None:
        """Adds what the user said to what the agent sees."""

    @abstractmethod
    def _has_ended(self, sender: DialogueRole, message: str | list[Any]) -> bool:
        """Whether the message just added ends the episode."""

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._done

    def request(self) -> Request | None:
        """What agent or simulated user sees next; None once the episode is over."""
        if self._done:
            return None
        return self._user.request() if self._user_speaks() else self._agent_request()

    def result(self) -> list[ClassState]:
        """The state of the involved classes; of an episode without calls the initial one."""
        return self.sandbox.saved()

    def _user_speaks(self) -> bool:
        return self.multi_turn and (not self.dialogue or self.dialogue[-1].recipient == "user")

    def _add_user_message(self, text: str) -> None:
        """What the user says; the first message costs nothing."""
        self._user.add_user_message(text)
        if self.dialogue:
            self._append("user", "agent", text)
        else:
            self.dialogue.append(DialogueMessage("user", "agent", text))
        self._show_user_message(text)

    def _append(self, sender: DialogueRole, recipient: DialogueRole, message: str | list[Any]) -> None:
        self.dialogue.append(DialogueMessage(sender, recipient, message))
        self._messages_left -= 1
        self._done = self._messages_left <= 0 or self._has_ended(sender, message)

    def _gold_text(self) -> str:
        """The next gold message, then the end mark."""
        gold = self.record.milestone_lists[0]
        return gold[self._replies] if self._replies < len(gold) else END_MARK
