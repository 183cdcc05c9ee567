"""Greetings, thanks, what the agent is and what it can do; and what it cannot do yet."""

from services.agent.builtin.domain import Intent, Say
from services.agent.builtin.intent import phrases, says
from services.agent.builtin.talk import can_do, greet

HELLO = phrases(r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|moin|servus|guten (?:morgen|tag|abend)|grüß (?:dich|gott))(?: there| agent| schleuse)?[\s.!,]*", r"(?:there|agent|schleuse)[\s.!,]*")  # fmt: skip
THANKS = phrases(
    r"(?:thanks?(?: you)?|thx|many thanks|danke|vielen dank|danke schön|dankeschön)(?: a lot| very much| sehr| dir)?[\s.!]*"
)
BYE = phrases(r"(?:bye|goodbye|see you|ciao|tschüss|tschüs|auf wiedersehen|bis (?:bald|später|morgen))[\s.!]*")
HELP = phrases(
    r"(?:help|hilfe|\?)(?: me| mir)?[\s.!?]*",
    r"(?:what can you do|what do you do|how can you help(?: me)?|what are you able to do|what (?:tools|commands) (?:do you have|are there))[\s.!?]*",
    r"(?:was kannst du(?: alles)?(?: tun| machen)?|wie kannst du(?: mir)? helfen|wobei kannst du(?: mir)? helfen|welche (?:befehle|möglichkeiten) (?:gibt es|hast du))[\s.!?]*",
)
WHO = phrases(
    r"(?:who|what) are you[\s.!?]*",
    r"(?:which|what) model (?:are you|do you use|is this)[\s.!?]*",
    r"(?:wer|was) bist du[\s.!?]*",
    r"welches modell (?:bist|nutzt|verwendest) du[\s.!?]*",
)
LATER = phrases(
    r"(?:schedule|plane)\b.*",
    r"(?:every|each) (?:\d+ )?(?:day|week|month|hour|minute|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekday|morning|evening|days|weeks|hours|minutes)\b.*",
    r"(?:jeden|jede|jedes|täglich|wöchentlich|monatlich|stündlich|alle \d+)\b.*",
)

FIRST = (
    Intent("hello", HELLO, lambda scene, _: Say(greet(scene))),
    says("thanks", THANKS, "You're welcome.", "Gern geschehen."),
    says("bye", BYE, "Goodbye.", "Auf Wiedersehen."),
    Intent("help", HELP, lambda scene, _: Say(can_do(scene))),
    says(
        "who",
        WHO,
        "I am the agent of this workplace, running on its built-in model: rules, no network, no cost. An owner or admin can choose another model in the console.",
        "Ich bin der Agent dieses Arbeitsplatzes und laufe mit dem eingebauten Modell: Regeln, kein Netz, keine Kosten. Ein Inhaber oder Admin kann in der Konsole ein anderes wählen.",
    ),
)
LAST = (
    says(
        "later",
        LATER,
        "Shall I remind you of that, or do something by myself then? Say “remind me every Sunday at 7 to water the plants” or “every morning at 7 summarise my mails”.",
        "Soll ich dich daran erinnern, oder dann selbst etwas tun? Sage „erinnere mich jeden Sonntag um 7 daran, die Blumen zu gießen“ oder „fasse jeden Morgen um 7 meine Mails zusammen“.",
    ),
)
