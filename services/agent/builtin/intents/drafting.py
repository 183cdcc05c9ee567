"""Proposals to the console: cleanup jobs over several turns, apps of tables, columns and rows. Whatever is proposed waits there for a person."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from schemas.work import AppDeclaration, Table
from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken
from services.agent.builtin.drafts.cleaning import Cleaning, in_english, read_cleaning
from services.agent.builtin.drafts.making import read_columns, read_values, slug_of
from services.agent.builtin.drafts.telling import job_proposed, outcomes, proposed, tables_of
from services.agent.builtin.intent import lacks, phrases, quoted, through, uses
from services.agent.drafting.known import Meant, find_table, folded
from shared.errors import Refused
from shared.schedules.words import corrects, find_schedule, opened

JOB = "propose_cleanup_job"
WHEN_EN, WHEN_DE = "When shall it run?", "Wann soll er laufen?"
TABLE_EN, TABLE_DE = "Which table do you mean?", "Welche Tabelle meinst du?"
FIELDS_EN, FIELDS_DE = "Which columns shall it have?", "Welche Spalten soll sie haben?"
_NO = re.compile(r"(?:no|nope|nein|nee|rather|lieber|besser|better|doch)\b[\s,:]*", re.IGNORECASE)
TABLES = phrases(
    r"(?:which|what|list|show)(?: me)?(?: all)?(?: of)?(?: the| my| our)? (?:tables|apps)(?: and columns)?(?: of the console)?(?: do you know(?: of)?| are there| can you (?:see|use))?[\s.!?]*",
    r"(?:welche|zeig|zeige|liste)(?: mir)?(?: alle)?(?: die| meine| unsere)? (?:tabellen|apps)(?: und spalten)?(?: der konsole)?(?: kennst du| gibt es| siehst du)?(?: auf| an)?[\s.!?]*",
)
OUTCOMES = phrases(
    r"(?:what|how)(?: has)?(?: became| become| about| is| are| stands)?(?: it)?(?: of| with)?(?: my| the| our)* (?:cleanup jobs?|dry[- ]runs?|jobs?|console proposals?|proposals? to the console)(?: status| doing| now)?[\s.!?]*",
    r"(?:show|list)(?: me)?(?: my| the| all| our)* (?:cleanup jobs?|dry[- ]runs?|jobs|console proposals?|proposals? to the console)[\s.!?]*",
    r"(?:how many|which) rows (?:would|will|did)(?: go| be deleted| it delete)?[\s.!?]*",
    r"(?:what did|what does) the dry[- ]run (?:find|say|show)[\s.!?]*",
    r"(?:was|wie)(?: ist| wurde| steht es| steht)?(?: aus| mit| um)?(?: meinen?| den?| dem| der| unseren?)* (?:aufräumjobs?|probel[aä]uf(?:e|s)?|jobs?|vorschl[aä]g(?:e|en)? (?:an|für) die konsole)(?: geworden)?[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: meine| die| alle)* (?:aufräumjobs?|probel[aä]ufe?|jobs|vorschläge (?:an|für) die konsole)(?: an| auf)?[\s.!?]*",
    r"wie ?viele zeilen (?:würden|werden|wurden)(?: gehen| gelöscht(?: werden)?)?[\s.!?]*",
    r"was (?:hat der probelauf gefunden|sagt der probelauf|ergab der probelauf)[\s.!?]*",
)
MAKE = phrases(
    r"(?:make|create|propose|build|set up)(?: me| us)? an? (?:new )?(?:app|application|table)(?: for| to (?:track|keep|manage)| of| called| named)? (?P<title>[^:]{1,80}?)(?:(?: with(?: the)?(?: columns| fields)?|:| that has)\s*:? (?P<columns>.{1,500}?))?[\s.!?]*",
    r"(?:erstelle|erstell|mach|mache|lege|leg|baue|bau|schlage|schlag)(?: mir| uns)? eine (?:neue )?(?:app|anwendung|tabelle)(?: für| namens| mit dem namen)? (?P<title>[^:]{1,80}?)(?:(?: mit(?: den)?(?: spalten| feldern)?|:)\s*:? (?P<columns>.{1,500}?))?(?: an| vor)?[\s.!?]*",
)
COLUMN = phrases(
    r"(?:add|propose)(?: an?| the| another)? (?:new )?(?:column|field)s?(?: called| named)? (?P<columns>.{1,300}?) (?:to|in|for)(?: the)?(?: table)? (?P<table>[\w.-]{1,100})(?: table)?[\s.!?]*",
    r"(?:add|propose) to (?P<table>[\w.-]{1,100})(?: an?| the)? (?:column|field)s? (?P<columns>.{1,300}?)[\s.!?]*",
    r"(?:füge|füg|ergänze|ergänz)(?: bitte)?(?: der| die| zu| in)?(?: tabelle)? (?P<table>[\w.-]{1,100})(?: um)?(?: eine?| die)? (?:neue )?(?:spalten?|felder|feld) (?P<columns>.{1,300}?)(?: hinzu| ein)?[\s.!?]*",
)
RECORD = phrases(
    r"(?:add|create|propose|enter)(?: an?| the| this| a new| new)* (?:record|row|entry)(?: to| in| into| for)?(?: the)?(?: table)? (?P<table>[\w.-]{1,100})(?: table)?\s*[:,]?(?: with)? (?P<values>.{1,2000})",
    r"(?:trage|trag|lege|leg|füge|füg)(?: bitte)?(?: in| bei| für| zu)?(?: die| der)?(?: tabelle)? (?P<table>[\w.-]{1,100})(?: einen| eine| den| diesen)*(?: neuen| neue)? (?:datensatz|eintrag|zeile)(?: ein| an| hinzu)?\s*[:,]?(?: mit)? (?P<values>.{1,2000})",
    r"(?:neuer|neue|schlage|schlag)(?: einen| eine)?(?: neuen| neue)? (?:datensatz|eintrag|zeile)(?: in| für| bei| vor für)?(?: die| der)?(?: tabelle)? (?P<table>[\w.-]{1,100})\s*[:,]?(?: mit)? (?P<values>.{1,2000})",
)


@dataclass(frozen=True)
class Cleaned(Intent):
    """A sentence that asks for rows to be deleted by their age, in whichever order it says so."""

    def match(self, text: str) -> Taken | None:
        return Taken({"text": text}) if read_cleaning(text) is not None else None


@dataclass(frozen=True)
class After(Intent):
    """Words that mean something only after what was said before; `when` has seen to that."""

    def match(self, text: str) -> Taken | None:
        return Taken({"text": text})


def clean(scene: Scene, match: Taken) -> Step:
    found = read_cleaning(match["text"])
    assert found is not None, "it matched"
    return _clean(scene, found)


def _clean(scene: Scene, asked: Cleaning) -> Step:
    if JOB not in scene.offered:
        return lacks(scene)
    if not asked.table:
        return Say(scene.say(f"{TABLE_EN} Say its name as the console shows it.", f"{TABLE_DE} Nenne ihren Namen, wie ihn die Konsole zeigt."))  # fmt: skip
    if not asked.schedule:
        return Say(scene.say(f"{WHEN_EN} Say for example “every Sunday”; without a time of day it is 03:00.", f"{WHEN_DE} Sage zum Beispiel „jeden Sonntag“; ohne Uhrzeit ist es 03:00 Uhr."))  # fmt: skip
    return through(scene, "list_tables", {}, lambda value: _propose(scene, asked, _apps(value)))


def _propose(scene: Scene, asked: Cleaning, apps: list[AppDeclaration]) -> Step:
    try:
        meant = _meant(apps, asked.table)
    except Refused as refused:
        return Say(refused.message)
    where = [{"column": column, "op": "equals", "value": value} for column, value in asked.where]
    table = f"{meant.app}.{meant.name}" if meant.table is not None else in_english(asked.table)
    arguments: dict[str, Any] = {"table": table, "older_than_days": asked.days, "schedule": asked.schedule, "why": scene.earlier[0][:500] if asked.schedule not in scene.text and scene.earlier else scene.text[:500]}  # fmt: skip
    arguments |= ({"date_column": asked.by} if asked.by else {}) | ({"conditions": where} if where else {})
    return through(scene, JOB, arguments, lambda value: Say(job_proposed(scene, value)))


def _meant(apps: list[AppDeclaration], said: str) -> Meant:
    """By their own word for it, else by the English one."""
    found = find_table(apps, said)
    return found if found.table is not None else find_table(apps, in_english(said))


def _apps(value: Any) -> list[AppDeclaration]:
    """As `list_tables` tells of them."""
    told = value.get("apps", []) if isinstance(value, dict) else []
    return [AppDeclaration(slug=each["app"], title=each["title"], kind="application", tables=tuple(Table.model_validate(one) for one in each["tables"])) for each in told]  # fmt: skip


def _open(scene: Scene) -> Cleaning | None:
    """What was asked for before, and something of it is still to be said."""
    return next((found for each in scene.earlier if (found := read_cleaning(each)) is not None), None)


def _asked_when(scene: Scene) -> bool:
    return any(each in scene.before for each in (WHEN_EN, WHEN_DE)) and _open(scene) is not None


def _asked_table(scene: Scene) -> bool:
    return any(each in scene.before for each in (TABLE_EN, TABLE_DE)) and _open(scene) is not None and len(scene.text) < 100  # fmt: skip


def answer_when(scene: Scene, match: Taken) -> Step:
    known = _open(scene)
    schedule = find_schedule(match["text"])[0] or opened(match["text"])
    return _clean(scene, replace(known, schedule=schedule)) if known else Say(scene.say(TABLE_EN, TABLE_DE))


def answer_table(scene: Scene, match: Taken) -> Step:
    known = _open(scene)
    words = [each for each in re.findall(r"[\w.-]+", match["text"]) if folded(each) not in ("the", "table", "die", "tabelle", "is", "ist")]  # fmt: skip
    return _clean(scene, replace(known, table=words[-1].strip("."))) if known and words else Say(scene.say(TABLE_EN, TABLE_DE))  # fmt: skip


def _corrects(scene: Scene) -> bool:
    """Another time, right after a job was proposed."""
    after = bool(scene.past) and scene.past[0].tool == JOB and _open(scene) is not None and len(scene.text) < 200
    return after and corrects(scene.text) and read_cleaning(scene.text) is None


def correct(scene: Scene, match: Taken) -> Step:
    known = _open(scene)
    assert known is not None, "checked"
    schedule = opened(_NO.sub("", match["text"], count=1))
    step = _clean(scene, replace(known, schedule=schedule))
    old = scene.past[0].value.get("link") if isinstance(scene.past[0].value, dict) else None
    if isinstance(step, Say) and old:
        return Say(f"{step.text}\n\n" + scene.say(f"What was proposed before waits too; a person can refuse it: {old}", f"Was vorher vorgeschlagen war, wartet auch noch; ein Mensch kann es ablehnen: {old}"))  # fmt: skip
    return step


def make(scene: Scene, match: Taken) -> Step:
    return _make(scene, match["title"].strip(" “”\"'„"), match["columns"])


def _make(scene: Scene, title: str, said: str) -> Step:
    columns = read_columns(said)
    if not columns:
        return Say(scene.say(f"{FIELDS_EN} Say for example “title, price (decimal), bought on (date)”.", f"{FIELDS_DE} Sage zum Beispiel „Titel, Preis (Dezimalzahl), gekauft am (Datum)“."))  # fmt: skip
    slug, name = slug_of(title), folded(title) or "entries"
    table = {"name": name if name[0].isalpha() else f"t_{name}", "title": title[:100], "columns": columns}
    arguments = {"app": slug, "title": title[:1].upper() + title[1:], "tables": [table], "why": scene.text[:500]}
    return through(scene, "propose_app", arguments, lambda value: Say(proposed(scene, value)))


def _asked_fields(scene: Scene) -> bool:
    return any(each in scene.before for each in (FIELDS_EN, FIELDS_DE)) and _titled(scene) is not None


def _titled(scene: Scene) -> Taken | None:
    return next((found for said in scene.earlier for each in MAKE if (found := _taken(each, said))), None)


def _taken(pattern: re.Pattern[str], text: str) -> Taken | None:
    found = pattern.fullmatch(text)
    return None if found is None else Taken(found.groupdict(""))


def answer_fields(scene: Scene, match: Taken) -> Step:
    known = _titled(scene)
    return _make(scene, known["title"], match["text"]) if known else Say(scene.say(FIELDS_EN, FIELDS_DE))


def add_column(scene: Scene, match: Taken) -> Step:
    def found(value: Any) -> Step:
        meant = _known(scene, value, match["table"])
        if not isinstance(meant, Meant):
            return meant
        columns = read_columns(match["columns"])
        if not columns:
            return Say(scene.say(FIELDS_EN, FIELDS_DE))
        arguments = {"app": meant.app, "tables": [{"name": meant.name, "columns": columns}], "why": scene.text[:500]}
        return through(scene, "propose_app", arguments, lambda done: Say(proposed(scene, done)))

    return through(scene, "list_tables", {}, found)


def add_record(scene: Scene, match: Taken) -> Step:
    def found(value: Any) -> Step:
        meant = _known(scene, value, match["table"])
        if not isinstance(meant, Meant):
            return meant
        row = read_values(match["values"])
        if not row:
            return Say(scene.say("Which values? Say for example “name: Ada, city: London”.", "Welche Werte? Sage zum Beispiel „name: Ada, ort: London“."))  # fmt: skip
        arguments: Mapping[str, Any] = {"table": f"{meant.app}.{meant.name}", "rows": [row], "why": scene.text[:500]}
        return through(scene, "propose_records", arguments, lambda done: Say(proposed(scene, done)))

    return through(scene, "list_tables", {}, found)


def _known(scene: Scene, value: Any, said: str) -> Meant | Say:
    try:
        meant = _meant(_apps(value), said)
    except Refused as refused:
        return Say(refused.message)
    if meant.table is None:
        return Say(scene.say(f"I know of no table “{quoted(said, 60)}”. ", f"Eine Tabelle „{quoted(said, 60)}“ kenne ich nicht. ") + tables_of(scene, value))  # fmt: skip
    return meant


INTENTS: tuple[Intent, ...] = (
    Cleaned(JOB, (), clean, needs=(JOB, "list_tables")),
    After("answer_job_when", (), answer_when, needs=(JOB,), when=_asked_when),
    After("answer_job_table", (), answer_table, needs=(JOB,), when=_asked_table),
    After("correct_job", (), correct, needs=(JOB,), when=_corrects),
    After("answer_app_fields", (), answer_fields, needs=("propose_app",), when=_asked_fields),
    uses("list_tables", "list_tables", TABLES, lambda _: {}, lambda scene, _, value: tables_of(scene, value)),
    uses("list_drafts", "list_drafts", OUTCOMES, lambda _: {}, lambda scene, _, value: outcomes(scene, value)),
    Intent("propose_column", COLUMN, add_column, needs=("propose_app", "list_tables")),
    Intent("propose_records", RECORD, add_record, needs=("propose_records", "list_tables")),
    Intent("propose_app", MAKE, make, needs=("propose_app",)),
)
