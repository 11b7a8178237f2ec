# SPDX-License-Identifier: Apache-2.0
"""The combinations of answers to measure, and those that the row refuses.

The rules are those of `weft explain` and weft::with. A combination must be legal answer by answer with the row's own
answers (weft::with compiles that), and as a whole: an answer may rule out that of a later family.
"""
from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..matrix.model import Fabric, Range
from ..rules import Choice, Family, chosen_anew, obstacle
from ..matrix.refusing import did_you_mean
from ..why_not import refusals

# Answers that are templates: the usual numbers.
PARAMETERS = {("coalesce", "up_to"): "<16, 1024>", ("inject", "up_to"): "<16>",
              ("tagged", "matched_over_messages"): "<32>"}
# Answers that give a promise up, or add one that no time shows, are no contenders, unless the command names them.
GIVES_UP = frozenset({"refused", "trusted", "shared_secret", "matched_over_messages"})
# The libraries' words for families.
LIKELY = {"mr_mode": "region_address", "addressing": "region_address", "signaling": "completion",
          "coalescing": "coalesce", "thread": "threading",
          "threads": "threading", "cq": "queues", "completion_queues": "queues", "injection": "inject",
          "inject_size": "inject"}
Wanted = Mapping[str, tuple[str, ...]]  # family to the requested answers; none: all


class NotUnderstood(Exception):
    """A word of --vary; holds the sentence."""


@dataclass(frozen=True)
class Combination:
    """Answers of the varied families, in the order of the rules. `reason`: why it is illegal, or empty."""

    answers: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...]  # the answers that are not the row's own
    reason: str = ""
    # answers that the rules choose together with these, where they differ from the row's
    followed: tuple[tuple[str, str], ...] = ()

    @property
    def baseline(self) -> bool:
        return not self.changed

    @property
    def legal(self) -> bool:
        return not self.reason

    @property
    def as_text(self) -> str:
        """For people: the answers that are not the row's own."""
        return ", ".join(f"{family}={answer}" for family, answer in self.changed) or "the row's own"

    @property
    def type(self) -> str:
        """The arguments of weft::with, after the fabric."""
        return ", ".join(f"weft::answers::{family}::{answer}" for family, answer in self.changed)


def wanted_families(words: Sequence[str], families: tuple[Family, ...]) -> Wanted:
    """`notify,completion`, `notify=immediate,notify=watched_word`, repeated or not. Errors: NotUnderstood."""
    found: dict[str, tuple[str, ...]] = {}
    for word in itertools.chain.from_iterable(_apart(each) for each in words):
        name, equals, answer = word.partition("=")
        family = _family(name, families)
        if equals:
            base = answer.split("<")[0].strip()
            if base not in family.answers:
                instead = did_you_mean(base, family.answers) or "; its answers are " + ", ".join(family.answers)
                raise NotUnderstood(f"{family.name} has no answer '{base}'{instead}")
            found[family.name] = (*found.get(family.name, ()), answer.strip())
        else:
            found.setdefault(family.name, ())
    return {family.name: found[family.name] for family in families if family.name in found}


def _apart(text: str) -> list[str]:
    """At commas, but not those within <…>."""
    parts, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _family(name: str, families: tuple[Family, ...]) -> Family:
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    for family in families:
        if plain in (family.name, family.name.replace("_", "")):
            return family
    names = [family.name for family in families]
    near = f"; did you mean '{LIKELY[plain]}'?" if LIKELY.get(plain) in names else did_you_mean(plain, names)
    raise NotUnderstood(f"no family '{name}'{near}{' (' if near else ': '}families are "
                        f"{', '.join(names)}{')' if near else ''}")


def combinations(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...],
                 wanted: Wanted | None) -> list[Combination]:
    """The row's own answers first. With `wanted` every product of them; without, each family that has a choice, one at
    a time.
    """
    refused = {(each.family, each.answer): each.sentence(fabric.name).removeprefix("weft: ")
               for each in refusals(fabric, span, choices, families)}
    own = {choice.family: choice.answer for choice in choices}
    menus = {family.name: _menu(family, own[family.name], (wanted or {}).get(family.name, ())) for family in families}
    legal = {name: [answer for answer in menu if (name, _base(answer)) not in refused] for name, menu in menus.items()}
    varied = list(wanted) if wanted is not None else [name for name, answers in legal.items() if len(answers) > 1]
    if wanted is not None:
        products = itertools.product(*(legal[name] for name in varied))
        taken = [dict(zip(varied, each)) for each in products]
    else:
        taken = [{}, *({name: answer} for name in varied for answer in legal[name] if answer != own[name])]
    found = [_judged(fabric, span, choices, families, varied, {**{name: own[name] for name in varied}, **each}, each)
             for each in taken]
    unlawful = [Combination((*_with(varied, own, name, answer),), ((name, answer),), refused[name, _base(answer)])
                for name in varied for answer in menus[name] if (name, _base(answer)) in refused]
    return sorted(found, key=lambda each: not each.baseline) + unlawful


def _base(answer: str) -> str:
    return answer.split("<")[0].strip()


def _menu(family: Family, own: str, asked: tuple[str, ...]) -> list[str]:
    """The row's own answer is always there: it is what the others are compared with."""
    able = [answer for answer in family.answers if answer not in GIVES_UP
            and (answer not in family.templates or (family.name, answer) in PARAMETERS)]
    answers = [*asked] if asked else [answer + PARAMETERS.get((family.name, answer), "") for answer in able]
    return list(dict.fromkeys([own, *answers]))


def _with(varied: list[str], own: Mapping[str, str], changed: str, answer: str) -> list[tuple[str, str]]:
    return [(name, answer if name == changed else own[name]) for name in varied]


def _judged(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...], varied: list[str],
            answers: Mapping[str, str], fixed: Collection[str]) -> Combination:
    """As a whole: each family is judged with this combination's answers to the earlier ones. Where that is not
    fixed, the rules choose anew, as weft::with does.
    """
    own = {choice.family: choice for choice in choices}
    beside = {name: replace(choice, answer=_base(answers.get(name, choice.answer))) for name, choice in own.items()}
    followed = []
    for family in families:
        answer = beside[family.name].answer
        verdicts = [(rule.answer, obstacle(fabric, span, rule, beside)) for rule in family.rules]
        needs = [need for other, need in verdicts if other == answer]
        anew = chosen_anew(fabric, span, family, own, beside) if family.name not in fixed else None
        if anew is None and (not needs or None in needs):
            continue
        if anew is None:
            needed = "; or ".join(dict.fromkeys(need for need in needs if need))
            reason = f"{family.name}: fabric {fabric.name} cannot answer {answer} with these: it needs {needed}"
            return Combination(*_named(varied, answers, own), reason)
        beside[family.name] = replace(beside[family.name], answer=anew)
        followed.append((family.name, anew))
    after = {**answers, **{name: answer for name, answer in followed if name in answers}}
    return Combination(_named(varied, after, own)[0], _named(varied, answers, own)[1], "", tuple(followed))


def _named(varied: list[str], answers: Mapping[str, str],
          own: Mapping[str, Choice]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """The answers of the varied families, and those that are not the row's own."""
    every = tuple((name, answers[name]) for name in varied)
    return every, tuple((name, answer) for name, answer in every if answer != own[name].answer)
