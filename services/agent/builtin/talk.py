"""What the built-in model says of itself, by the tools that this role is offered: nothing is promised that is not there."""

import re

from services.agent.builtin.domain import Say, Scene

EXAMPLES: tuple[tuple[str, str, str], ...] = (
    ("remember", "“remember this: invoices go to accounting”", "„merk dir: Rechnungen gehen an die Buchhaltung“"),
    ("recall", "“what do you remember about invoices?”", "„was weißt du noch über Rechnungen?“"),
    ("forget", "“forget invoices”", "„vergiss Rechnungen“"),
    ("search_lessons", "“what did we learn about backups?”", "„was haben wir über Backups gelernt?“"),
    ("add_lesson", "“lesson: the backup was full => rotate weekly”", "„Lektion: das Backup war voll => wöchentlich wechseln“"),
    ("search_conversations", "“search my conversations for invoices”", "„suche in meinen Gesprächen nach Rechnungen“"),
    ("create_reminder", "“remind me every Sunday at 7 to water the plants”", "„erinnere mich jeden Sonntag um 7 daran, die Blumen zu gießen“"),
    ("create_automation", "“every morning at 7 summarise my mails”", "„fasse jeden Morgen um 7 meine Mails zusammen“"),
    ("list_tasks", "“list my reminders”, “pause the second”, “what did I miss?”", "„zeig meine Erinnerungen“, „pausiere die zweite“, „was habe ich verpasst?“"),
    ("update_behavior", "“from now on, answer briefly”, “undo behavior”", "„ab jetzt antworte kurz“, „mach die Verhaltensänderung rückgängig“"),
    ("make_tool", "“make a tool weekly: search lessons about {input}”", "„erstelle ein Werkzeug wochenblick: suche in den Lektionen nach {input}“"),
    ("run_tool", "“run weekly with backups”", "„führe wochenblick aus mit Backups“"),
    ("propose_publication", "“propose a page Opening hours: Monday to Friday, 9 to 5”", "„schlage eine Seite vor: Öffnungszeiten: Montag bis Freitag, 9 bis 17 Uhr“"),
    ("propose_cleanup_job", "“delete vsg_runs rows older than 90 days every Sunday”", "„lösche jeden Sonntag Zeilen von vsg_runs, die älter als 90 Tage sind“"),
    ("propose_app", "“make an app for book loans with title, borrower, due on (date)”", "„erstelle eine App für Ausleihen mit Titel, Person, fällig am (Datum)“"),
    ("spend", "“what was spent, and what is left?”", "„was wurde ausgegeben, und was ist noch übrig?“"),
    ("read_shared", "“summarise the new comments”", "„fasse die neuen Kommentare zusammen“"),
    ("read_page", "“read this page https://example.com”", "„lies die Seite https://example.com“"),
    ("offer_download", "“give me notes.md as a link”, “give me a link to notes.md for anybody”, “show my links”", "„gib mir notizen.md als Link“, „gib mir einen Link zu notizen.md für alle“, „zeig meine Links“"),
    ("email_search", "“show my mails”, “the second”, “reply: thank you”", "„zeig meine Mails“, „die zweite“, „antworte: danke“"),
    ("email_send", "“send a mail to ada@example.org about lunch: at noon?”", "„schick eine Mail an ada@example.org mit dem Betreff Essen: um zwölf?“"),
    ("list_files", "“list my files”, “read the file notes.md”", "„zeig meine Dateien“, „lies die Datei notizen.md“"),
    ("move_file", "“move notes.md to drafts”, “rename it to plan.md”, “delete it”", "„verschiebe notizen.md nach drafts“, „benenne sie in plan.md um“, „lösche sie“"),
    ("search_files", "“search my files for invoice”", "„suche in meinen Dateien nach Rechnung“"),
    ("search_docs", "“how do I publish a page?”", "„wie veröffentliche ich eine Seite?“"),
)  # fmt: skip
"""What can be said, by the tool that it needs."""
_NAME = re.compile(r"(?:call me|nenne? mich)\s+(?P<name>[^\s.,;!?\n]{1,40})", re.IGNORECASE)


def called(scene: Scene) -> str:
    """The name that the owner wants to be called by, from their behavior."""
    names = _NAME.findall(scene.behavior)
    return f", {names[-1]}" if names else ""


def greet(scene: Scene) -> str:
    return scene.say(
        f"Hello{called(scene)}. What may I do for you? “help” shows what I understand.",
        f"Hallo{called(scene)}. Was kann ich für dich tun? „Hilfe“ zeigt, was ich verstehe.",
    )


def examples(scene: Scene, most: int = 40) -> list[str]:
    return [scene.say(en, de) for tool, en, de in EXAMPLES if tool in scene.offered][:most]


def can_do(scene: Scene) -> str:
    lines = [*examples(scene), scene.say("“summarise: TEXT”", "„fasse zusammen: TEXT“")]
    return (
        scene.say("This is what I understand:", "Das verstehe ich:") + "\n\n" + "\n".join(f"- {each}" for each in lines)
    )


NOT_UNDERSTOOD = (
    "I'm sorry, I did not understand that: I am the built-in model and follow fixed phrases.",
    "Das habe ich leider nicht verstanden: Ich bin das eingebaute Modell und folge festen Wendungen.",
)
"""In English and in German."""


def unknown(scene: Scene) -> Say:
    """A polite word, and what would be understood."""
    some = ", ".join(examples(scene, 3))
    more = (
        scene.say(f" Try for example {some}, or “help”.", f" Versuche zum Beispiel {some}, oder „Hilfe“.")
        if some
        else ""
    )
    return Say(scene.say(*NOT_UNDERSTOOD) + more)
