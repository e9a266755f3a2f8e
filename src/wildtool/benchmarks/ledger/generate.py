"""Makes a session from a seed: a book of two months, four turns, and the book that each of them must lead to."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from wildtool.benchmarks.ledger.book import BookPosting, Directive
from wildtool.benchmarks.ledger.records import (
    TURN_KINDS,
    AmountQuestion,
    LedgerCall,
    LedgerChange,
    LedgerSession,
    LedgerTurn,
    TurnKind,
    texts_of,
)  # fmt: skip
from wildtool.benchmarks.ledger.tools import entry_arguments
from wildtool.draws import seeded_draw
from wildtool.types import Lang

CHECKING, SAVINGS = "Assets:Bank:Checking", "Assets:Bank:Savings"
CASH, CARD = "Assets:Cash", "Liabilities:CreditCard"
TRAVEL, SALARY, RENT, OPENING = "Expenses:Travel", "Income:Salary", "Expenses:Housing:Rent", "Equity:Opening"
_WORLD = texts_of("world")
_KINDS = dict(zip("CKQHMXR", TURN_KINDS, strict=True))
PLANS = (
    "CKQR",
    "MKXR",
    "CQKR",
    "CXKR",
    "CHRK",
    "MQRX",
    "QCKR",
    "CKRX",
    "HMKR",
    "XCKR",
    "CMRQ",
    "MHRQ",
    "CKXR",
    "CQRH",
    "XMQR",
    "CKMR",
)
"""Kinds of the turns, session by session. A correction follows something written, a reference has it two turns back."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One request of a turn."""

    text: str
    say: str
    """What the gold policy says at the end, by its key in the texts."""
    changes: tuple[LedgerChange, ...] = ()
    steps: tuple[tuple[LedgerCall, ...], ...] = ()
    question: AmountQuestion | None = None
    more: str = ""


@dataclass(slots=True)
class _Mentioned:
    """A purchase that the user had entered, as the book has it now."""

    entry: Directive
    turn: int
    """In which it was entered."""
    touched: int
    """In which it was last changed."""

    @property
    def category(self) -> str:
        return self.entry.postings[0].account

    @property
    def source(self) -> str:
        return self.entry.postings[1].account

    @property
    def amount(self) -> Decimal:
        return self.entry.postings[0].number


def make_session(seed: int, number: int) -> LedgerSession:
    """Session `number` (from 1) of a seed: the same on every machine."""
    lang: Lang = "en" if number % 2 else "zh"
    return _Maker(seeded_draw(f"ledger/{seed}/{number}"), lang).session(f"ledger-{seed}-{number:03}", number)


class _Maker:
    """The state of one session while it is made."""

    def __init__(self, draw: random.Random, lang: Lang) -> None:
        self.draw = draw
        self.lang: Lang = lang
        self.texts = texts_of(lang)
        self.today = date(2025, draw.randrange(3, 12), draw.randrange(10, 29))
        self.currency = draw.choice(_WORLD["currencies"][lang])
        self.symbol = draw.choice(_WORLD["symbols"][self.currency])
        self.closed = draw.choice(_WORLD["closed"])
        self.categories: Mapping[str, Any] = self.texts["categories"]
        self.free = {account: draw.sample(each["payees"], 8) for account, each in self.categories.items()}
        """Payees that were not yet used."""
        self.mentioned: list[_Mentioned] = []
        self.double: Directive | None = None
        self.used: set[str] = set()
        """Requests that a session makes once, and names that it has used."""
        self.turn = 0
        self.last_changes = 0
        self.base = self._base()
        self.book = list(self.base)

    # The book ----------------------------------------------------------------------------------------

    def _base(self) -> tuple[Directive, ...]:
        month = self.today.replace(day=1)
        earlier = (month - timedelta(1)).replace(day=1)
        start = date(2025, 1, 1)
        own = [CHECKING, SAVINGS, CASH, CARD, *_WORLD["closed"], OPENING, SALARY, RENT, TRAVEL]
        accounts = [*own, *self.categories, *_WORLD["unused"]]
        names = self.texts["names"]
        foreign, price = _WORLD["foreign"][self.currency]
        entries = [Directive("open", start, account=account) for account in accounts]
        entries.append(Directive("close", earlier - timedelta(1), account=self.closed))
        for account, low, high in ((CHECKING, 3000, 6000), (SAVINGS, 5000, 20000), (CASH, 200, 600)):
            entries.append(self._moved(start, names["opening"], OPENING, account, self._amount(low, high)))
        for first in (earlier, month):
            rate = Decimal(price) + Decimal(self.draw.randrange(-3, 4)) / 100
            entries.append(
                Directive("price", first, currency=foreign, number=rate, price_currency=self.currency)
            )
            entries.append(self._moved(first, names["employer"], SALARY, CHECKING, self._amount(2800, 5200)))
            entries.append(self._moved(first, names["landlord"], CHECKING, RENT, self._amount(700, 1500)))
            for category in self.draw.sample([*self.categories], 6):
                last = self.today.day - 2 if first == month else 28
                day = first.replace(day=self.draw.randrange(2, last))
                source = self.draw.choice((CHECKING, CHECKING, CARD, CASH))
                payee = self.free[category].pop()
                entries.append(self._moved(day, payee, source, category, self._amount(6, 140)))
        if self.draw.random() < 0.4:
            self.double = entries[-1]
            entries.append(entries[-1])
        return tuple(entries)

    def _amount(self, low: int, high: int) -> Decimal:
        """Never a whole number, so that it is not mistaken for a day or a count."""
        units, cents = self.draw.randrange(low, high), self.draw.randrange(1, 100)
        return Decimal(f"{units}.{cents:02}")

    def _moved(self, day: date, payee: str, source: str, target: str, amount: Decimal) -> Directive:
        legs = BookPosting(target, amount, self.currency), BookPosting(source, -amount, self.currency)
        return Directive("transaction", day, payee, postings=legs)

    # Words -------------------------------------------------------------------------------------------

    def _say(self, key: str, **slots: Any) -> str:
        return self.draw.choice(self.texts[key]).format(**slots)

    def _money(self, amount: Decimal) -> str:
        return self.symbol.format(f"{amount:f}")

    def _word(self, category: str) -> str:
        return self.categories[category]["word"] if category in self.categories else category

    def _noun(self, day: date) -> str:
        """A day as people call it."""
        if day in (self.today, self.today - timedelta(1)):
            return self.texts["today" if day == self.today else "yesterday"]
        month = self.texts["months"][day.month - 1]
        if self.lang == "zh":
            return f"{day.day}号" if day.month == self.today.month else f"{month}{day.day}号"
        ending = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
        return f"the {day.day}{ending}" if day.month == self.today.month else f"{month} {day.day}"

    def _when(self, day: date) -> str:
        is_near = self.lang == "zh" or day >= self.today - timedelta(1)
        return self._noun(day) if is_near and day <= self.today else f"on {self._noun(day)}"

    def _day(self) -> date:
        return self.today - timedelta(self.draw.choice((0, 0, 1, 1, 2, 4, 6)))

    def _file(self) -> str:
        return f"{self.draw.choice(('scan', 'receipt', 'IMG'))}_{self.draw.randrange(1000, 9999)}.pdf"

    def _sentence(self, text: str) -> str:
        """A message as people begin and end it."""
        opener = self.draw.choice(self.texts["openers"])
        if not any(mark in text[:5] for mark in ",，!！"):
            text = opener + text
        if self.draw.random() < 0.25:
            return text.rstrip(".。")
        return text[:1].upper() + text[1:]

    def _joined(self, a: str, b: str) -> str:
        return self._say("joiners", a=a, b=b, A=a[:1].upper() + a[1:], B=b[:1].upper() + b[1:])

    # Requests ----------------------------------------------------------------------------------------

    def _once(self, name: str) -> bool:
        is_new = name not in self.used
        self.used.add(name)
        return is_new

    def _purchase(self) -> tuple[Directive, Mapping[str, str]]:
        """A new purchase, and the words for it."""
        category = self.draw.choice([account for account in self.categories if self.free[account]])
        day, payee = self._day(), self.free[category].pop()
        source = self.draw.choice((CHECKING, CHECKING, CASH, CARD))
        entry = self._moved(day, payee, source, category, self._amount(4, 160))
        paid, word = self.draw.choice(self.texts["paid"][source]), self._word(category)
        slots = {"payee": payee, "category": word, "Category": word[:1].upper() + word[1:], "paid": paid}
        days = {"when": self._when(day), "noun": self._noun(day)}
        return entry, {**slots, **days, "amount": self._money(entry.postings[0].number)}

    def _added(self, entry: Directive) -> _Part:
        """The part that adds an entry, without its text."""
        return _Part("", "done", (LedgerChange(None, entry),), ((_add_call(entry),),))

    def _add(self) -> _Part:
        entry, slots = self._purchase()
        self.mentioned.append(_Mentioned(entry, self.turn, self.turn))
        return replace(self._added(entry), text=self._say("add", **slots))

    def _transfer(self) -> _Part:
        source, target = self.draw.choice(
            ((CHECKING, SAVINGS), (CHECKING, CASH), (CHECKING, CARD), (SAVINGS, CHECKING))
        )
        entry = self._moved(self.today, self.texts["transfer_payee"], source, target, self._amount(50, 400))
        names = self.texts["accounts"]
        words = {"source": names[source], "target": names[target], "when": self._when(self.today)}
        text = self._say("transfer", amount=self._money(entry.postings[0].number), **words)
        # Nobody says whom a transfer is to.
        return replace(self._added(replace(entry, payee="")), text=text)

    def _foreign(self) -> _Part:
        currency = _WORLD["foreign"][self.currency][0]
        rate = [entry.number for entry in self.book if entry.kind == "price"][-1]
        payee = self._name(self.texts["names"]["abroad"])
        units, day = Decimal(self.draw.randrange(20, 300)), self.today
        legs = (
            BookPosting(TRAVEL, units, currency, rate, self.currency),
            BookPosting(CHECKING, -(units * rate), self.currency),
        )
        entry = Directive("transaction", day, payee, postings=legs)
        text = self._say(
            "foreign", foreign=f"{units} {currency}", currency=currency, payee=payee, when=self._when(day)
        )
        rates = LedgerCall("exchange_rates", {"currency": currency})
        return _Part(text, "done", (LedgerChange(None, entry),), ((rates,), (_add_call(entry),)))

    def _name(self, names: Sequence[str]) -> str:
        name = self.draw.choice([name for name in names if name not in self.used])
        self.used.add(name)
        return name

    def _old(self) -> Directive:
        """A purchase of the book at the beginning that was not yet spoken of."""
        payees = [entry.payee for entry in self.book]
        entries = [
            entry
            for entry in self.base
            if entry in self.book and payees.count(entry.payee) == 1 and entry.payee not in self.used
            if entry.postings and entry.postings[0].account in self.categories
        ]
        entry = self.draw.choice(entries)
        self.used.add(entry.payee)
        return entry

    def _recategorise(self) -> _Part:
        entry = self._old()
        old = entry.postings[0].account
        category = self.draw.choice(_WORLD["neighbours"][old])
        words = {"old": self._word(old), "category": self._word(category)}
        return self._to_old("recategorise", entry, _recategorised(entry, category), words)

    def _receipt(self) -> _Part:
        entry, file = self._old(), self._file()
        return self._to_old("receipt", entry, _with_receipt(entry, file), {"file": file})

    def _to_old(
        self, key: str, entry: Directive, request: tuple[LedgerChange, LedgerCall], words: Mapping[str, str]
    ) -> _Part:
        """A change of an entry whose id must be looked up."""
        days = {"when": self._when(entry.date), "noun": self._noun(entry.date)}
        steps = (LedgerCall("query", {"payee": entry.payee}),), (request[1],)
        return _Part(self._say(key, payee=entry.payee, **days, **words), "done", (request[0],), steps)

    def _duplicate(self) -> _Part:
        entry = self.double
        if entry is None or not self._once("duplicate"):
            return self._transfer()
        steps = (LedgerCall("find_duplicates", {}),), (LedgerCall("delete_entry", {"id": entry}),)
        return _Part(self._say("duplicate", payee=entry.payee), "done", (LedgerChange(entry, None),), steps)

    def _open(self) -> _Part:
        account, (entry, slots) = self._name(_WORLD["new"]), self._purchase()
        entry = self._moved(self.today, entry.payee, CHECKING, account, entry.postings[0].number)
        slots = {**slots, "when": self._when(self.today), "account": account}
        opened = Directive("open", self.today, account=account)
        calls = LedgerCall("open_account", {"account": account}), _add_call(entry)
        changes = LedgerChange(None, opened), LedgerChange(None, entry)
        return _Part(self._say("open", **slots), "done", changes, (calls,))

    def _close(self) -> _Part:
        account = self._name(_WORLD["unused"])
        closed = Directive("close", self.today, account=account)
        text = self._say("close", account=self.texts["accounts"][account])
        call = LedgerCall("close_account", {"account": account})
        return _Part(text, "done", (LedgerChange(None, closed),), ((call,),))

    def _check(self) -> _Part:
        """A balance check that holds."""
        if not self._once("check"):
            return self._add()
        amount = self._balance_at_start(SAVINGS)
        check, call = self._checked(SAVINGS, amount)
        text = self._say("check", amount=self._money(amount))
        return _Part(text, "done", (LedgerChange(None, check),), ((call,),))

    def _checked(self, account: str, amount: Decimal) -> tuple[Directive, LedgerCall]:
        check = Directive("balance", self.today, account=account, number=amount, currency=self.currency)
        arguments = {"account": account, "amount": f"{amount:f}", "currency": self.currency}
        return check, LedgerCall("assert_balance", {**arguments, "date": self.today.isoformat()})

    def _balance_at_start(self, account: str) -> Decimal:
        return self._sum((account,), self.today - timedelta(1)).answer(self.book)

    def _sum(self, accounts: tuple[str, ...], last: date | None = None, **filters: Any) -> AmountQuestion:
        return AmountQuestion(accounts, self.currency, last or self.today, **filters)

    # Questions ---------------------------------------------------------------------------------------

    def _book_question(self, text: str, question: AmountQuestion) -> _Part:
        """A question that the book answers."""
        days = {"start": question.first, "end": None if question.last == self.today else question.last}
        arguments: dict[str, Any] = {"accounts": [*question.accounts]}
        arguments |= {name: f"{day}" for name, day in days.items() if day}
        return _Part(text, "answer", steps=((LedgerCall("query", arguments),),), question=question)

    def _last_month(self) -> _Part:
        """What a category came to last month: no request of this month changes it."""
        end = self.today.replace(day=1) - timedelta(1)
        spent = {
            leg.account for entry in self.book if entry.date.month == end.month for leg in entry.postings
        }
        category = self.draw.choice([account for account in self.categories if account in spent])
        period = self._say("last_month", month=self.texts["months"][end.month - 1])
        text = self._say("sum_category", category=self._word(category), period=period)
        return self._book_question(text, self._sum((category,), end, first=end.replace(day=1)))

    def _this_month(self) -> _Part:
        purchase = self.mentioned[-1]
        words = {"payee": purchase.entry.payee, "category": self._word(purchase.category)}
        key = self.draw.choice(("sum_category", "sure", "sure"))
        text = self._say(key, period=self._say("this_month"), **words)
        return self._book_question(text, self._sum((purchase.category,), first=self.today.replace(day=1)))

    def _balance(self) -> _Part:
        account = self.draw.choice((CHECKING, SAVINGS, CASH))
        text = self._say("balance", account=self.texts["accounts"][account])
        return self._book_question(text, self._sum((account,)))

    def _again(self, purchase: _Mentioned | None = None, key: str = "again") -> _Part:
        """What was entered before: the conversation has the answer, so no call is needed."""
        purchase = purchase or self.mentioned[-1]
        day, payee = purchase.entry.date, purchase.entry.payee
        question = self._sum(("Expenses",), day, first=day, payee=payee)
        return _Part(self._say(key, payee=payee), "answer", question=question)

    def _without_number(self) -> _Part:
        return _Part(self._say("open_question"), "open_answer")

    # Turns -------------------------------------------------------------------------------------------

    def session(self, session_id: str, number: int) -> LedgerSession:
        plan = PLANS[(number - 1) // 2 % len(PLANS)]
        turns: list[LedgerTurn] = []
        for self.turn, letter in enumerate(plan):
            turns.append(self._finished(_KINDS[letter], getattr(self, _KINDS[letter])()))
        return LedgerSession(session_id, self.lang, self.today, self.currency, self.base, tuple(turns))

    def _finished(self, kind: TurnKind, parts: Sequence[_Part]) -> LedgerTurn:
        text = self._joined(*(part.text for part in parts)) if len(parts) > 1 else parts[0].text
        steps = [
            tuple(call for step in together for call in step)
            for together in zip_longest(*(part.steps for part in parts), fillvalue=())
        ]
        says = dict.fromkeys(self.draw.choice(self.texts["say"][part.say]) for part in parts)
        ask = [self.draw.choice(self.texts["say"]["ask"])] if parts[0].more else []
        changes = tuple(change for part in parts for change in part.changes)
        for change in changes:
            self._apply(change)
        self.last_changes = len(changes)
        gold = (*ask, *steps, " ".join(says))
        question = next((part.question for part in parts if part.question), None)
        return LedgerTurn(kind, self._sentence(text), changes, gold, question, parts[0].more)

    def _apply(self, change: LedgerChange) -> None:
        if change.before is not None:
            self.book.remove(change.before)
        if change.after is not None:
            self.book.append(change.after)

    def _drawn(self, name: str) -> Any:
        """One of the requests that the texts list under a name."""
        return getattr(self, f"_{self.draw.choice(_WORLD['requests'][name])}")

    def compositional(self) -> list[_Part]:
        second = self._drawn("compositional")()
        return self.draw.sample([self._add(), second], 2)

    def missing(self) -> list[_Part]:
        if self.mentioned and self.draw.random() < 0.5:
            day, amount = self.today, self._amount(50, 400)
            entry = replace(self._moved(day, "", CHECKING, SAVINGS, amount))
            text = self._say("missing_transfer", when=self._when(day))
        else:
            entry, slots = self._purchase()
            amount = entry.postings[0].number
            text = self._say("missing_amount", **slots)
            self.mentioned.append(_Mentioned(entry, self.turn, self.turn))
        more = self._say("more_amount", amount=self._money(amount))
        return [replace(self._added(entry), text=text, more=more[:1].upper() + more[1:])]

    def question(self) -> list[_Part]:
        return [self._drawn("question" if self.mentioned else "first_question")()]

    def chat(self) -> list[_Part]:
        return [_Part(self._say("chat"), "chat")]

    def refused(self) -> list[_Part]:
        refused = self._drawn("refused")()
        if refused.question is None and self.draw.random() < 0.4:
            return self.draw.sample([self._add(), refused], 2)
        return [refused]

    def _to_closed(self) -> _Part:
        words = {"closed": self.texts["accounts"][self.closed], "when": self._when(self.today)}
        text = self._say("closed_account", amount=self._money(self._amount(30, 300)), **words)
        return _Part(text, "closed")

    def _future(self) -> _Part:
        _, slots = self._purchase()
        day = self.today + timedelta(self.draw.randrange(5, 25))
        month = self.texts["months"][day.month - 1]
        day_text = f"{month}{day.day}号" if self.lang == "zh" else f"{month} {day.day}"
        return _Part(self._say("future", date=day_text, **slots), "future")

    def _unbalanced(self) -> _Part:
        entry, slots = self._purchase()
        total, gap = entry.postings[0].number, self._amount(2, 9)
        a = (total / 3).quantize(Decimal("0.01"))
        other = self.draw.choice(_WORLD["neighbours"][entry.postings[0].account])
        money = {"total": total, "a": a, "b": total - a + gap}
        amounts = {name: self._money(amount) for name, amount in money.items()}
        return _Part(self._say("unbalanced", other=self._word(other), **slots, **amounts), "unbalanced")

    def _false_check(self) -> _Part:
        amount = self._balance_at_start(CHECKING)
        _, call = self._checked(CHECKING, amount + self._amount(3, 90))
        text = self._say("false_check", amount=self._money(Decimal(call.arguments["amount"])))
        question = self._sum((CHECKING,), self.today - timedelta(1))
        return _Part(text, "false_check", steps=((call,),), question=question)

    def correction(self) -> list[_Part]:
        purchase = max(self.mentioned, key=lambda each: each.touched)
        is_last = purchase.touched == self.turn - 1 and self.last_changes == 1
        entry = purchase.entry
        if is_last and self.turn == 3 and purchase.turn == purchase.touched and self.draw.random() < 0.3:
            self.mentioned.remove(purchase)
            call = LedgerCall("undo", {})
            return [_Part(self._say("undo"), "done", (LedgerChange(entry, None),), ((call,),))]
        key, words, after = self._drawn("correction")(purchase)
        name = key if is_last or key == "correct_payee" else f"{key}_named"
        purchase.entry, purchase.touched = after, self.turn
        text = self._say(name, payee=entry.payee, **words)
        return [_Part(text, "done", (LedgerChange(entry, after),), ((_corrected(entry, after),),))]

    def _new_amount(self, purchase: _Mentioned) -> "_Correction":
        amount = self._amount(4, 160)
        target, source = purchase.entry.postings
        legs = replace(target, number=amount), replace(source, number=-amount)
        words = {"new": self._money(amount), "old": self._money(purchase.amount)}
        return "correct_amount", words, replace(purchase.entry, postings=legs)

    def _new_day(self, purchase: _Mentioned) -> "_Correction":
        before = purchase.entry.date
        day = self.draw.choice([d for d in (self.today - timedelta(n) for n in range(8)) if d != before])
        words = {"when": self._when(day), "before": self._when(before)}
        return "correct_date", words, replace(purchase.entry, date=day)

    def _new_source(self, purchase: _Mentioned) -> "_Correction":
        target, source = purchase.entry.postings
        account = self.draw.choice([each for each in (CHECKING, CASH, CARD) if each != source.account])
        words = {"from": self.texts["from"][account], "was": self.texts["from"][source.account]}
        legs = target, replace(source, account=account)
        return "correct_paid", words, replace(purchase.entry, postings=legs)

    def _new_category(self, purchase: _Mentioned) -> "_Correction":
        target, source = purchase.entry.postings
        account = self.draw.choice(_WORLD["neighbours"][target.account])
        words = {"category": self._word(account), "old": self._word(target.account)}
        legs = replace(target, account=account), source
        return "correct_category", words, replace(purchase.entry, postings=legs)

    def _new_payee(self, purchase: _Mentioned) -> "_Correction":
        payee = self.free[purchase.category].pop()
        words = {"new": payee, "old": purchase.entry.payee}
        return "correct_payee", words, replace(purchase.entry, payee=payee)

    def reference(self) -> list[_Part]:
        purchase = self.draw.choice([each for each in self.mentioned if each.turn <= self.turn - 2])
        if self.draw.random() < 0.15:
            return [self._again(purchase, "back_again")]
        return [self._drawn("last_reference" if self.turn == 3 else "reference")(purchase)]

    def _back_change(self, purchase: _Mentioned, text: str, change: LedgerChange, call: LedgerCall) -> _Part:
        if change.after is not None:
            purchase.entry, purchase.touched = change.after, self.turn
        return _Part(text, "done", (change,), ((call,),))

    def _back_receipt(self, purchase: _Mentioned) -> _Part:
        file = self._file()
        text = self._say("back_receipt", payee=purchase.entry.payee, file=file)
        return self._back_change(purchase, text, *_with_receipt(purchase.entry, file))

    def _back_tag(self, purchase: _Mentioned) -> _Part:
        entry, tag = purchase.entry, self.draw.choice(("work", "refund", "shared", "gift", "kids"))
        text, after = self._say("back_tag", payee=entry.payee, tag=tag), replace(entry, tags=frozenset([tag]))
        return self._back_change(purchase, text, LedgerChange(entry, after), _corrected(entry, after))

    def _back_category(self, purchase: _Mentioned) -> _Part:
        old = purchase.category
        category = self.draw.choice(_WORLD["neighbours"][old])
        words = {"old": self._word(old), "category": self._word(category)}
        text = self._say("back_category", payee=purchase.entry.payee, **words)
        return self._back_change(purchase, text, *_recategorised(purchase.entry, category))

    def _back_delete(self, purchase: _Mentioned) -> _Part:
        self.mentioned.remove(purchase)
        call = LedgerCall("delete_entry", {"id": purchase.entry})
        text = self._say("back_delete", payee=purchase.entry.payee)
        return self._back_change(purchase, text, LedgerChange(purchase.entry, None), call)

    def _back_repeat(self, purchase: _Mentioned) -> _Part:
        before, amount = purchase.entry, self._amount(4, 160)
        day = self.draw.choice([d for d in (self.today - timedelta(n) for n in range(4)) if d != before.date])
        entry = self._moved(day, before.payee, purchase.source, purchase.category, amount)
        text = self._say("back_repeat", payee=before.payee, amount=self._money(amount), when=self._when(day))
        self.mentioned.append(_Mentioned(entry, self.turn, self.turn))
        return replace(self._added(entry), text=text)


_Correction = tuple[str, Mapping[str, str], Directive]
"""Key of the texts, their slots, and the corrected entry."""


def _add_call(entry: Directive) -> LedgerCall:
    return LedgerCall("add_transaction", entry_arguments(entry))


def _corrected(entry: Directive, after: Directive) -> LedgerCall:
    """The call that changes an entry, with the fields that differ."""
    old, new = ({**entry_arguments(each), "tags": sorted(each.tags)} for each in (entry, after))
    changed = {name: value for name, value in new.items() if value != old[name]}
    return LedgerCall("correct_transaction", {"id": entry, **changed})


def _recategorised(entry: Directive, category: str) -> tuple[LedgerChange, LedgerCall]:
    target, *sources = entry.postings
    after = replace(entry, postings=(replace(target, account=category), *sources))
    arguments = {"id": entry, "from_account": target.account, "to_account": category}
    return LedgerChange(entry, after), LedgerCall("recategorise", arguments)


def _with_receipt(entry: Directive, file: str) -> tuple[LedgerChange, LedgerCall]:
    after = replace(entry, receipts=(*entry.receipts, file))
    return LedgerChange(entry, after), LedgerCall("attach_receipt", {"id": entry, "receipt": file})
