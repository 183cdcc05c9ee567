"""What no text and no tool can do: open the console, decide, touch the platform's logs, hand out secrets, set the site's mode."""

from services.agent.builtin.intent import phrases, says

_REMOVE = r"\b(?:delete|remove|clear|purge|clean(?: up)?|erase|truncate|drop|wipe|trim|rewrite|empty|edit|prune)\b"
_LOGS = r"\b(?:audit(?: log| trail)?|call[- ]audit|crossings?|usage ledger|spend ledger|(?:audit|call|usage|turns?|ledger)s?(?: log)? (?:rows?|logs?|entries|records?|trail|table|history))\b"
_LOESCHEN = r"\b(?:lösche|lösch|löschen|entferne|entfernen|leere|leeren|bereinige|bereinigen|säubere|kürze|kürzen|räume|aufräumen|ändere)\b"
_PROTOKOLLE = r"\b(?:audit|prüfprotokoll|aufrufprotokoll|anrufprotokoll|konnektorprotokoll|connector-|kostenbuch|kostenprotokoll|nutzungsprotokoll|protokoll|übergangsprotokoll)\w*"
LOGS = phrases(
    rf"(?=.*{_REMOVE})(?=.*{_LOGS}).*",
    rf"(?=.*{_LOESCHEN})(?=.*{_PROTOKOLLE}).*",
)
"""Looked for in any order: a job, a schedule, and a plain order alike."""
DECIDE = phrases(
    r"(?:approve|reject|decide on|sign off|withdraw)\b(?! of).*",
    r"(?:accept|release) (?:it|all|(?:the|my|this|that|these|those) \w+)\b.*",
    r"(?:genehmige|genehmig|lehne|entscheide|bestätige|winke|gib (?!.*für (?:alle|jeden|kunden|jedermann)).+ frei|ziehe .+ zurück)\b.*",
)
SITE_MODE = phrases(
    r"(?:set|switch|change|put)(?: the| our)?(?: public)? (?:web ?site|site|site mode|mode of the site) to .+",
    r"(?:öffne|schließe|schliesse|sperre)(?: bitte)?(?: die| unsere)? (?:öffentliche )?(?:website|webseite|site)\b.*",
    r"(?:setze|setz|stelle|stell)(?: bitte)?(?: die| den| unsere)? (?:website|webseite|site|site-modus|modus der site) auf .+",
    r"(?:open|close|switch off|switch on|turn off|turn on|shut down) (?:the |our )?(?:public )?(?:web ?site|site)\b.*",
    r"(?:öffne|schließe|schliesse|schalte|mach|mache|stelle|sperre)(?: bitte)?(?: die| unsere)? (?:öffentliche )?(?:website|webseite|site|seite) (?:für alle |für jeden )?(?:ein|aus|ab|auf|zu|öffentlich auf)[\s.!?]*",
)
SECRETS = phrases(
    r"(?:show|tell|give|send|print|read|what(?:['’]s| is| are))(?: me| us)?(?: the| my| our| your| all)* (?:.* )?(?:passwords?|api[- ]?keys?|secrets?|credentials|private keys?|tokens?)\b.*",
    r"(?:zeig|zeige|nenne|gib|sag|sage|schick|lies|wie lautet|was ist)(?: mir| uns)?(?: bitte)?(?: das| die| den| unser| unsere| mein| meine| alle)* (?:.* )?(?:passwort|passwörter|kennwort|kennwörter|api[- ]?schlüssel|geheimnis|geheimnisse|schlüssel|zugangsdaten|token)\b.*",
)

DATA = phrases(
    r"(?:delete|erase|remove|forget)(?: all(?: of)?)? (?:my data|everything(?: you know)?(?: about me| of me)?|all (?:my )?conversations|all about me)[\s.!?]*",
    r"(?:export|download|give me|send me)(?: all(?: of)?)? my (?:data|conversations)[\s.!?]*",
    r"(?:lösche|vergiss|entferne)(?: bitte)?(?: alle| all)? (?:meine daten|alles(?: über mich| von mir)?|meine gespräche)[\s.!?]*",
    r"(?:exportiere|gib mir|lade)(?: bitte)?(?: alle| all)? meine (?:daten|gespräche)(?: herunter)?[\s.!?]*",
)

INTENTS = (
    says(
        "data",
        DATA,
        "What is kept of you, you can fetch as a file or have deleted for good on the page [Your data](/data). I don't do it by a message: it can't be undone. One thing goes by “forget: …”.",
        "Was von dir aufbewahrt wird, kannst du auf der Seite [Deine Daten](/data) als Datei holen oder endgültig löschen. Auf eine Nachricht hin tue ich das nicht: Es lässt sich nicht rückgängig machen. Einzelnes geht mit „vergiss: …“.",
    ),
    says(
        "platform_logs",
        LOGS,
        "I can't do that, and no job can: the audit of calls, the crossings, the usage ledger and the record of turns are kept by the platform. They can be searched"
        " but neither changed nor deleted, by anybody; I made no job. If it is about space, an operator sees in `schleuse status` what takes it.",
        "Das kann ich nicht, und kein Job kann es: Die Protokolle der Aufrufe, die Übergänge, das Kostenbuch und die Aufzeichnung der Runden hält die Plattform."
        " Man kann sie durchsuchen, aber niemand kann sie ändern oder löschen; ich habe keinen Job angelegt. Geht es um Platz, zeigt `schleuse status` dem Betreiber, was ihn braucht.",
    ),
    says(
        "decide",
        DECIDE,
        "I can't decide: approving, rejecting and withdrawing are done by a person in the console, on its queue and cards. Nothing that I read or write replaces that.",
        "Entscheiden kann ich nicht: Freigeben, Ablehnen und Zurückziehen tut ein Mensch in der Konsole, in der Warteschlange und auf den Karten. Nichts, was ich lese oder schreibe, ersetzt das.",
    ),
    says(
        "site_mode",
        SITE_MODE,
        "The site's mode is set by an owner or admin in the console, under Switches. None of my tools can do it.",
        "Den Modus der Site stellt ein Inhaber oder Admin in der Konsole unter Schalter ein. Keines meiner Werkzeuge kann das.",
    ),
    says(
        "secrets",
        SECRETS,
        "I can't show that: secrets are sealed where they are typed, and only the connectors open them, for the time of a call. I know their names at most.",
        "Das kann ich nicht zeigen: Geheimnisse werden dort versiegelt, wo sie eingegeben werden, und nur die Konnektoren öffnen sie für die Zeit eines Aufrufs. Ich kenne höchstens ihre Namen.",
    ),
)
