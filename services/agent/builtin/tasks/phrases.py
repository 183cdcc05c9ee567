"""How people ask for reminders and automations, in English and German."""

import re

from services.agent.builtin.intent import phrases

_E = r"[\s.!?]*"
TASK_EN = r"(?:reminders?|tasks?|automations?|alarms?|schedules?|scheduled tasks?|timers?)"
TASK_DE = (
    r"(?:erinnerung(?:en)?|aufgaben?|automation(?:en)?|automatisierung(?:en)?|wecker|zeitpläne?|zeitplan|termine?)"
)
_NTH_EN = r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|[0-9]{1,3}(?:st|nd|rd|th)"
_NTH_DE = r"erste|zweite|dritte|vierte|fünfte|sechste|siebte|achte|neunte|zehnte|letzte"
PLACE = (
    rf"(?:(?:the |number |no\.? |#|die |den |das |nummer |nr\.? )*(?P<nth>{_NTH_EN}|(?:{_NTH_DE})[nrs]?|[0-9]{{1,3}})\.?"
    rf"(?: (?:one|{TASK_EN}|{TASK_DE}))?|(?:{TASK_EN}|{TASK_DE}) (?:number |no\.? |#|nummer |nr\.? )?(?P<nth2>[0-9]{{1,3}}))"
)
IT = rf"(?:it|that|this|that one|this one|(?:this|that|the|my) {TASK_EN}|sie|ihn|es|das|die|diese[nrs]?|(?:die|den|meine|meinen|diese[nrs]?|das) {TASK_DE})"
NAMED = (
    rf"(?:(?:the|my) )?(?:{TASK_EN} (?:about|for|to|called|named|with|of|on) (?P<name>.+?)|(?P<name2>.+?) (?:{TASK_EN}|one))"
    rf"|(?:(?:die|den|meine|meinen|das) )?(?:{TASK_DE} (?:an|für|zu|zum|zur|namens|mit|über|von|wegen) (?P<name3>.+?)|(?P<name4>.+?)[ -]{TASK_DE})"
)
MEANT = rf"(?:{PLACE}|{IT}|{NAMED})"
ANY = rf"(?:{MEANT}|(?:the |my |die |den |das |meine |meinen )?(?P<name5>[^\n?]{{1,120}}?))"

REMIND = re.compile(
    r"(?:please |bitte )?(?:remind me\b|wake me\b|(?:set|create|make|add|give)(?: me)?(?: an?| the| another)?(?: new| daily| weekly)? (?:reminder|alarm)\b|new reminder\b"
    r"|don['’]t let me forget\b|erinner(?:e)? mich\b|weck(?:e)? mich\b|(?:stell|stelle|erstelle|setz|setze|lege|leg|mach|mache)(?: mir)?(?: bitte)? (?:eine |einen )?(?:neue |neuen )?(?:erinnerung|wecker)\b"
    r"|(?:neue )?erinnerung\s*:|reminder\s*:)",
    re.IGNORECASE,
)
"""Where a reminder is asked for; a schedule may stand before it ("every Sunday at 7 remind me to …")."""
NO_REMINDER = re.compile(
    r"remind me (?:of |about )?(?:what|when|where|who|how|why|which)\b.*|remind me (?:of|about)(?: what)? (?:we|i|you)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What asks for something that is remembered."""
LIST = phrases(
    rf"(?:list|show|what are|which are|give)(?: me)?(?: all)?(?: of)?(?: my| the| our)?(?: open| current| planned)? {TASK_EN}{_E}",
    rf"(?:what|which) {TASK_EN} (?:do i have|are there|have i|did i set|are set|are planned){_E}",
    r"(?:what(?:['’]s| is| are)?|which) (?:my )?(?:scheduled|planned|coming up|on my schedule|on the schedule|(?:are )?you going to remind me of)"
    + _E,
    rf"(?:do i have|are there)(?: any)? {TASK_EN}{_E}",
    rf"(?:zeig|zeige|liste|nenne)(?: mir)?(?: alle)?(?: meine| die)?(?: offenen| geplanten)? {TASK_DE}(?: auf| an)?{_E}",
    rf"welche {TASK_DE} (?:habe ich|gibt es|sind gesetzt|sind geplant|stehen an){_E}",
    rf"(?:habe ich|gibt es)(?: noch)? {TASK_DE}{_E}",
    r"was (?:ist|habe ich) (?:heute |morgen |diese woche |alles )*(?:geplant|vor)" + _E,
    r"what(?:['’]s| is) (?:on|planned)(?: for)?(?: today| tomorrow| this week)?" + _E,
    r"was steht(?: als nächstes| demnächst| alles)? an" + _E,
    r"(?:my |all |meine |alle )*(?:reminders|tasks|automations|erinnerungen|aufgaben|automationen)" + _E,
)
NEXT = phrases(
    rf"(?:what(?:['’]s| is)|when(?:['’]s| is)|show(?: me)?) (?:my |the )?next(?: {TASK_EN}| one| run)?(?: up| due)?{_E}",
    rf"what comes next{_E}",
    rf"(?:was ist|wann ist|zeig(?:e)?(?: mir)?)(?: meine| die| mein| der)? (?:nächste|nächster)(?: {TASK_DE})?{_E}",
    rf"was (?:kommt|ist|steht) als nächstes(?: an| dran)?{_E}",
    rf"wann (?:ist|kommt)(?: denn)? die nächste(?: {TASK_DE})?{_E}",
)
WHEN_IS = phrases(
    rf"(?:when(?:['’]s| is| does| will)) {MEANT}(?: due| next| again| come| run| happen| fire)*{_E}",
    rf"wann (?:ist|kommt|läuft) {MEANT}(?: fällig| wieder| dran| das nächste mal)*{_E}",
)
MISSED = phrases(
    rf"what (?:did|have) i miss(?:ed)?(?: while i was away| lately| today)?{_E}",
    rf"(?:what|which(?: {TASK_EN})?|did any(?:thing)?|was any(?:thing)?)(?: {TASK_EN})? (?:was|were|has been|have been|did|get|got)? ?(?:missed|skipped|late|not run|fail(?:ed)?|run late)(?: lately| today)?{_E}",
    rf"(?:show|list)(?: me)?(?: all| the| my)* (?:missed|skipped|failed|late) (?:{TASK_EN}|runs|ones){_E}",
    rf"was (?:habe ich|hab ich|wurde|ist|ging|haben wir) (?:alles )?(?:verpasst|versäumt|übersprungen|ausgefallen|fehlgeschlagen|schiefgegangen){_E}",
    rf"welche {TASK_DE} (?:habe ich|wurden|sind|wurde) (?:verpasst|versäumt|übersprungen|ausgefallen|fehlgeschlagen){_E}",
    rf"(?:zeig|zeige|liste)(?: mir)?(?: alle| die| meine)* (?:verpassten?|ausgefallenen?|übersprungenen?|fehlgeschlagenen?) {TASK_DE}(?: an| auf)?{_E}",
)
HISTORY = phrases(
    rf"(?:show|what is|what['’]s|list)(?: me)?(?: the| its)? (?:history|runs|output|log) (?:of|for) {ANY}{_E}",
    rf"(?:show|what is|what['’]s)(?: me)? (?:its|the) (?:history|runs|output){_E}",
    rf"(?:did|has) {MEANT} (?:run|ran|fire|fired|worked|work)(?: today| already| yet)?{_E}",
    rf"why (?:did|has|was) {MEANT} (?:not )?(?:run|fire|fired|skipped|missed|fail|failed|come)(?: run| fire| come)?{_E}",
    rf"(?:zeig|zeige)(?: mir)?(?: den| die| das)? (?:verlauf|geschichte|läufe|ausgabe|ergebnis)(?: von| der| des| für| zu)? {ANY}(?: an)?{_E}",
    rf"(?:zeig|zeige)(?: mir)? (?:den|die|ihren|seinen) (?:verlauf|läufe|ausgabe){_E}",
    rf"(?:ist|lief|hat) {MEANT} (?:schon |heute )*(?:gelaufen|geklappt|funktioniert)?{_E}",
    rf"warum (?:ist|wurde|kam|lief) {MEANT} (?:nicht |denn )*(?:gelaufen|gekommen|übersprungen|ausgefallen|fehlgeschlagen)?{_E}",
)
PAUSE = phrases(
    rf"(?:pause|suspend|hold|mute|stop|switch off|turn off|disable) {MEANT}(?: for now| for a while| off)?{_E}",
    rf"pause {ANY}{_E}",
    rf"(?:pausiere|pausier|halte|stoppe|stopp|unterbrich|deaktiviere) {MEANT}(?: an| vorerst| erst einmal| mal)*{_E}",
    rf"(?:pausiere|pausier) {ANY}{_E}",
    rf"(?:setz|setze|schalte|schalt|stell|stelle) {MEANT} (?:aus|auf pause|ab)(?: vorerst)?{_E}",
)
RESUME = phrases(
    rf"(?:resume|continue|unpause|reactivate|restart|enable|switch on|turn on) {MEANT}(?: again)?{_E}",
    rf"(?:resume|unpause) {ANY}{_E}",
    rf"(?:setz|setze|führe|führ|nimm|lass|schalte|schalt|stell|stelle) {MEANT} (?:fort|wieder fort|weiter|wieder auf|weiterlaufen|wieder an|wieder ein|an|ein){_E}",
    rf"(?:aktiviere|reaktiviere) {MEANT}(?: wieder)?{_E}",
    rf"(?:setz|setze) {ANY} fort{_E}",
)
DELETE = phrases(
    rf"(?:delete|remove|cancel|drop|end|clear) {MEANT}(?: please)?{_E}",
    rf"stop reminding me(?: (?:about|of|to) (?P<name>.+?))?{_E}",
    rf"(?:don['’]t|do not|no longer) remind me(?: (?:about|of|to) (?P<name>.+?))?(?: any ?more| again)?{_E}",
    rf"(?:lösch|lösche|entferne|entfern|streiche|streich|beende) {MEANT}(?: bitte| wieder)*{_E}",
    rf"(?:sag|sage|setz|setze) {MEANT} ab{_E}",
    rf"erinner(?:e)? mich (?:nicht mehr|nie mehr|nie wieder)(?: (?:an|daran,?) (?P<name>.+?))?{_E}",
)
DELETE_ALL = phrases(
    rf"(?:delete|remove|cancel|clear) all(?: of)?(?: my| the| them)*(?: {TASK_EN})?{_E}",
    rf"(?:lösch|lösche|entferne) alle(?:s)?(?: meine| die)?(?: {TASK_DE})?{_E}",
)
CHANGE = phrases(
    rf"(?:move|change|reschedule|shift|set|postpone|put|make) {MEANT} (?:to|on|for|until|till|by|at(?= )) ?(?P<new>.+?){_E}",
    rf"(?:make|change) (?:it|that) (?P<new>(?:at|every|daily|weekly|tomorrow|on|in|[0-9]).+?){_E}",
    rf"(?:verschieb|verschiebe|verlege|verleg|ändere|änder|setz|setze|stell|stelle|mach|mache) {MEANT} (?:auf |zu )?(?P<new>.+?){_E}",
)
RENAME = phrases(
    rf"(?:rename|call|name) {MEANT} (?:to |as |into )?[\"“„]?(?P<title>[^\n]{{1,200}}?)[\"”“]?{_E}",
    rf"(?:benenne|nenn|nenne) {MEANT} (?:in |um in )?[\"“„]?(?P<title>[^\n]{{1,200}}?)[\"”“]?(?: um)?{_E}",
)
NO = phrases(
    rf"(?:no|nope|nein|nee|doch nicht|that['’]s wrong|wrong|das ist falsch|falsch|stimmt nicht){_E}",
)
FORGET_IT = phrases(
    rf"(?:no,? )?(?:never ?mind|forget it|cancel that|don['’]t|undo(?: that| it)?|leave it|scrap (?:that|it)){_E}",
    rf"(?:nein,? )?(?:vergiss es|lass es(?: sein)?|doch nicht|egal|abbrechen|mach (?:das|es) rückgängig|rückgängig){_E}",
)
DO = re.compile(
    r"(?:please |bitte |then |dann |to )?(?:summari[sz]e|check|send|read|search|look|list|show|tell|write|draft|propose|report|collect|review|find|fetch|compare|clean|delete|move|save|answer|reply|say|give|"
    r"let me know|prepare|translate|count|test|ask|"
    r"fasse?|prüfe?|schick(?:e)?|sende|lies|lese|suche?|durchsuche|schau|sieh|liste|zeige?|sag(?:e)?|schreib(?:e)?|entwirf|schlage?|berichte|sammle|finde?|hole?|vergleiche|räume?|lösche|verschiebe|speichere|"
    r"antworte|bereite|übersetze|zähle|teste|frage?|gib)\b",
    re.IGNORECASE,
)
"""What the agent is told to do; by such a word it is more than a reminder."""
TIMER = re.compile(
    r"(?:please |bitte )?(?:(?:set|start|stell|stelle|starte)(?: me| mir)?(?: bitte)? )?(?:a |an |einen |den )?timer(?: for| of| auf| von| über|:)? (?P<length>.{1,80}?)[\s.!]*",
    re.IGNORECASE,
)
WAKING = re.compile(r"\b(?:wake|weck|alarm|wecker)", re.IGNORECASE)
"""Without a text it is clear what for."""
ORDERS = {
    "prüfen": ("prüfe", ""), "checken": ("prüfe", ""), "zusammenfassen": ("fasse", " zusammen"), "schicken": ("schicke", ""), "senden": ("sende", ""), "lesen": ("lies", ""), "vorlesen": ("lies", " vor"),
    "suchen": ("suche", ""), "durchsuchen": ("durchsuche", ""), "auflisten": ("liste", " auf"), "zeigen": ("zeige", ""), "anzeigen": ("zeige", " an"), "schreiben": ("schreibe", ""), "übersetzen": ("übersetze", ""),
    "vergleichen": ("vergleiche", ""), "sammeln": ("sammle", ""), "zählen": ("zähle", ""),
}  # fmt: skip
"""An order as German puts it behind a time ("jeden Morgen um 7 meine Mails zusammenfassen"), and as it is said alone."""
INFINITIVE = re.compile(rf"(?P<what>.+?)\s(?P<verb>{'|'.join(ORDERS)})[\s.!]*", re.IGNORECASE | re.DOTALL)
READS = re.compile(
    r"\b(?:e-?)?mails?\b|inbox|postfach|posteingang|\bpages?\b|https?:|website|webseite|\bseiten?\b|comments?\b|kommentare?|feedback|rückmeldung|\bfiles?\b|datei|lessons?\b|lektion|conversations?\b|gespräch|"
    r"\bnews\b|nachrichten|records?\b|datensätze|\bcrm\b",
    re.IGNORECASE,
)
"""An instruction with such a word needs something that is read (rule 30)."""
