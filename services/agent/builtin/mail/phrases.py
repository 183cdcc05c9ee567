"""How people speak of mail, in English and German."""

from services.agent.builtin.intent import phrases

_E = r"[\s.!?]*"
_MAILS = r"(?:e-?mails?|mails?|inbox|mailbox|posteingang|post)"
_MY = r"(?: my| the| our| all| any| some| me| mir| meine| meinen| die| den| alle| mal| bitte)*"
_NEW = r"(?P<kind>(?: new| unread| latest| newest| last| recent| starred| flagged| neue| neuen| neuesten| ungelesene| ungelesenen| letzten| wichtige| wichtigen| markierten)*)"
_ACCOUNT = r"(?:,? (?:in|of|from|at|im|in|vom|von|des) (?:my |the |meinem |dem )?(?:account|mail account|konto|mailkonto|kontos) [\"'“„]?(?P<account>[^\"'”“\n?!]{1,60}?)[\"'”“]?)?"
_FOLDER = r"(?:,? (?:in|from|of|im|aus|aus dem|in dem) (?:the |my |meinem |dem )?(?:folder|mail folder|ordner|mailordner) [\"'“„]?(?P<folder>[^\"'”“\n?!]{1,100}?)[\"'”“]?)?"
_WHICH = r"(?P<which>[^:\s][^:\n]{0,59}?)"
_ADDRESS = r"(?:\"[^\"\n]{1,60}\"@|[^\s,;:@\"<>]{1,64}@)[^\s,;:<>\"]{1,190}[^\s,;:<>\".!?]"
ADDRESS = _ADDRESS
_TO = rf"(?P<to>{_ADDRESS}(?:\s*(?:,|;|\band\b|\bund\b|\s)\s*{_ADDRESS}){{0,20}})"
_SUBJECT = r"(?:,? (?:with (?:the )?subject|subject|about|titled|re|mit (?:dem )?betreff|betreff|über|zum thema)(?:\s*:)?\s+[\"“„]?(?P<subject>[^:\s][^:\n]{0,199}?)[\"”“]?)?"
_FILE = r"(?:,? (?:with|attaching|and attach|mit|und hänge)(?: the| my| der| die| meiner)?(?: file| attachment| datei| anlage)?(?:\s+[\"“„`]?(?P<file>[^\s:\"”“`]*[\w.-]+\.\w{1,8})[\"”“`]?)(?: attached| an| im anhang)?)?"
_FROM = r"(?: (?:from|using|von|vom|über) (?:my |the |meinem |dem )?(?:(?:account|konto|mailkonto) )?[\"“„]?(?P<account>[^\s:\"”“]{1,60})[\"”“]?)?"
_SAYS = r"(?:\s*:\s*|,? (?:saying|that says|with the text|mit dem text|mit dem inhalt)\s*:?\s+)"
_LETTER = (
    r"(?:(?:an?|the|this|eine?|die|diese) )?(?:short |new |kurze |neue )?(?:e-?mail|mail|message|letter|nachricht)"
)

ACCOUNTS = phrases(
    rf"(?:which|what|list|show)(?: me)?(?: are)?(?: all)?(?: my| the)? (?:e-?mail|mail) ?accounts?(?: do i have| are there| have i)?{_E}",
    rf"(?:welche|was für|zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| die)? (?:e-?mail|mail)[ -]?(?:konten|accounts|zugänge)(?: habe ich| gibt es| auf| an)?{_E}",
)
ADDING = phrases(
    rf"(?:how (?:do|can) i |i want to |let me |please )?(?:add|set ?up|connect|create|enter)(?: an?| my| another| a new| the)* (?:(?:e-?mail|mail) ?account|mailbox).{{0,60}}?{_E}",
    rf"(?:wie (?:kann|soll) ich |wie füge ich |wie kann man |ich will |ich möchte )?(?:ein |mein |ein neues |noch ein )?(?:(?:e-?mail|mail)[ -]?(?:konto|account)|(?:e-?mail-?)?postfach)(?: neu)? (?:hinzufügen|hinzu|anlegen|einrichten|verbinden|eintragen){_E}",
    rf"(?:wie )?(?:füge|richte|lege|verbinde)(?: ich| man)?(?: bitte)?(?: ein| mein| ein neues)? (?:(?:e-?mail|mail)[ -]?(?:konto|account)|(?:e-?mail-?)?postfach)(?: hinzu| ein| an)?{_E}",
)
REMOVING = phrases(
    rf"(?:remove|delete|disconnect|forget)(?: my| the)? (?:e-?mail|mail) ?account [\"“„]?(?P<account>[^\"”“\n?!]{{1,60}}?)[\"”“]?{_E}",
    rf"(?:entferne|entfern|lösche|lösch|trenne)(?: bitte)?(?: mein| das)? (?:e-?mail|mail)[ -]?(?:konto|account) [\"“„]?(?P<account>[^\"”“\n?!]{{1,60}}?)[\"”“]?{_E}",
)
FOLDERS = phrases(
    rf"(?:which|what|list|show)(?: me)?(?: are)?(?: all)?(?: my| the)? (?:e-?mail |mail |imap )?folders(?: do i have| are there)?(?: in my (?:mail|mailbox))?{_ACCOUNT}{_E}",
    rf"(?:welche|zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| die)? (?:e-?mail|mail|imap)?-?ordner(?: habe ich| gibt es| auf| an)?{_ACCOUNT}{_E}",
)
LIST = phrases(
    rf"(?:check|show|list|read|get|open|see){_MY}{_NEW} {_MAILS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:do i have|have i got|is there|are there|did i get){_MY}{_NEW} {_MAILS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:any|what(?:['’]s| is)? in)(?: my| the)?{_NEW} {_MAILS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:zeig|zeige|prüfe|prüf|liste|lies|hole|hol|öffne){_MY}{_NEW} {_MAILS}(?: ab| auf| an| vor)?{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:habe ich|hab ich|gibt es|sind){_MY}{_NEW} {_MAILS}(?: bekommen| da)?{_FOLDER}{_ACCOUNT}{_E}",
    rf"was ist (?:in|im)(?: meinem| meiner)? (?:posteingang|postfach|mailbox){_ACCOUNT}{_E}",
)
_BY = r"(?P<by>from|by|of|to|about|with|with the subject|containing|for|von|an|über|zu|mit|mit dem betreff|nach|zum thema)"
_ITS = r"[\"'“„]?(?P<words>[^\"”“\n?!]{1,200}?)[\"'”“]?"
SEARCH = phrases(
    rf"(?:search|look)(?: in| through)?(?: my| the| all)* (?:e-?mails?|mails?|inbox|mailbox) {_BY} {_ITS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:find|show|list|search for|look for|get)(?: me)?(?: all| the| any| my)*{_NEW} (?:e-?mails?|mails?) {_BY} {_ITS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:suche|such|durchsuche)(?: bitte)?(?: in)?(?: meinen| den| meine| die| allen)* (?:e-?mails?|mails?|posteingang|postfach) {_BY} {_ITS}{_FOLDER}{_ACCOUNT}{_E}",
    rf"(?:finde|find|zeig|zeige|suche|such)(?: mir)?(?: bitte)?(?: alle| die| meine)*{_NEW} (?:e-?mails?|mails?) {_BY} {_ITS}{_FOLDER}{_ACCOUNT}{_E}",
)
READ_MAIL = phrases(
    rf"(?:read|show|open)(?: me)?(?: the| my)? (?P<which>(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|latest|newest) (?:e-?mail|mail)|(?:e-?mail|mail) (?:number |no\.? |#)?\d{{1,2}})(?: (?:from|by) {_ITS})?{_E}",
    rf"(?:lies|zeig|zeige|öffne)(?: mir)?(?: bitte)?(?: die| meine)? (?P<which>(?:\w{{2,10}}(?:te|ste)n?|neueste|letzte) (?:e-?mail|mail)|(?:e-?mail|mail) (?:nummer |nr\.? |#)?\d{{1,2}})(?: von {_ITS})?(?: vor| an)?{_E}",
)
READ = phrases(
    rf"(?:no,? |sorry,? |i meant? )?(?:(?:read|show|open)(?: me)? )?(?P<which>(?:the |number |no\.? |#)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|latest|newest|next|\d{{1,2}})(?: one| mail| e-?mail)?|it|that one|this one)(?: please)?{_E}",
    rf"(?:nein,? |ich meinte? )?(?:(?:lies|zeig|zeige|öffne)(?: mir)?(?: bitte)? )?(?P<which>(?:die |das |nummer |nr\.? |#)?(?:erste|zweite|dritte|vierte|fünfte|sechste|siebte|achte|neunte|zehnte|letzte|neueste|nächste|\d{{1,2}})n?(?: mail| e-?mail)?|sie|diese|es)(?: vor| an| bitte)*{_E}",
)
REPLY = phrases(
    rf"(?:reply|answer|respond|write back)(?P<all> (?:to )?all)?(?:(?: to)? {_WHICH})?(?:\s*:\s*|,? (?:saying|with|that) )(?P<text>.+)",
    rf"(?:antworte|antwort|schreib zurück|schreibe zurück)(?P<all> allen)?(?: ihm| ihr| ihnen)?(?:(?: auf)? {_WHICH})?(?:\s*:\s*|,? dass )(?P<text>.+)",
)
FORWARD = phrases(
    rf"forward {_WHICH} to {_TO}(?:\s*:\s*(?P<text>.+))?{_E}",
    rf"(?:leite|leit) {_WHICH} (?:weiter an|an) {_TO}(?: weiter)?(?:\s*:\s*(?P<text>.+))?{_E}",
)
SEND = phrases(
    rf"(?:send|write|compose){_FROM} {_LETTER}{_FROM.replace('account>', 'account2>')} to {_TO}{_SUBJECT}{_FILE}{_SAYS}(?P<text>.+)",
    rf"(?:send|write|mail|e-?mail)(?: to)? {_TO}(?: {_LETTER})?{_SUBJECT}{_FILE}{_SAYS}(?P<text>.+)",
    rf"(?:schick|schicke|sende|schreib|schreibe|verfasse)(?: bitte)?{_FROM} {_LETTER}{_FROM.replace('account>', 'account2>')} an {_TO}{_SUBJECT}{_FILE}{_SAYS}(?P<text>.+)",
    rf"(?:schick|schicke|sende|schreib|schreibe|maile)(?: bitte)?(?: an)? {_TO}(?: {_LETTER})?{_SUBJECT}{_FILE}{_SAYS}(?P<text>.+)",
)
SEND_TO = phrases(
    rf"(?:send|write|compose){_FROM} {_LETTER} to {_TO}{_SUBJECT}{_FILE}{_E}",
    rf"(?:schick|schicke|sende|schreib|schreibe|verfasse)(?: bitte)?{_FROM} {_LETTER} an {_TO}{_SUBJECT}{_FILE}{_E}",
)
SAYING = phrases(
    r"(?:subject|betreff)(?:\s*:)?\s+(?P<subject>[^:\s][^:\n]{0,199}?)[:\n]\s*(?:text:\s*)?(?P<text>\S.*)",
    r"(?:text|it says|it should say|say|sie sagt|schreib|schreibe)\s*:\s*(?P<text>\S.*)",
)
CONFIRM = phrases(
    rf"(?:yes|ok|okay|confirmed?|ja)?[\s,:]*(?:please )?(?:send it|send|schick sie|schicke sie|sende sie|sende)?(?: to| an)? {_TO}{_E}",
    rf"(?P<to>{_ADDRESS}){_E}",
)
FLAG = phrases(
    rf"mark {_WHICH} (?:as )?(?P<flag>read|unread|seen|important|unimportant|starred|flagged|answered|not important|done){_E}",
    rf"(?P<flag>star|unstar|flag|unflag) {_WHICH}{_E}",
    rf"(?:markiere|markier|kennzeichne) {_WHICH} als (?P<flag>gelesen|ungelesen|wichtig|unwichtig|beantwortet|nicht wichtig|erledigt){_E}",
)
MOVE = phrases(
    rf"(?:move|file|put) {_WHICH} (?:to|into|in)(?: the| my)?(?: folder)? [\"“„]?(?P<to>[^\"”“\n?!]{{1,100}}?)[\"”“]?(?: folder)?{_E}",
    rf"(?:verschiebe|verschieb|lege|leg) {_WHICH} (?:in|nach|ins)(?: den| das| die)?(?: ordner)? [\"“„]?(?P<to>[^\"”“\n?!]{{1,100}}?)[\"”“]?(?: ab)?{_E}",
)
PUT_AWAY = phrases(
    rf"(?P<how>archive|delete|trash) {_WHICH}{_E}",
    rf"(?P<how>archiviere|archivier|lösche|lösch) {_WHICH}{_E}",
)
SAVE = phrases(
    rf"(?:save|store|keep|download)(?: me)?(?: the| its| all| this)? (?:attachments?|files? of {_WHICH})(?: (?:number |no\.? |#)?(?P<number>\d{{1,3}}))?(?: (?:of|from) (?P<which2>[^:\n]{{1,60}}?))?(?: (?:as|to|in|into|under) [\"“„`]?(?P<path>[^\"”“`\n?!]{{1,200}}?)[\"”“`]?)?{_E}",
    rf"(?:speichere|speicher|sichere|lege)(?: bitte)?(?: mir)?(?: den| die| alle| diesen)? (?:anhang|anhänge|anlage|anlagen)(?: (?:nummer |nr\.? |#)?(?P<number>\d{{1,3}}))?(?: (?:von|aus) {_WHICH})?(?: (?:als|in|unter|nach) [\"“„`]?(?P<path>[^\"”“`\n?!]{{1,200}}?)[\"”“`]?)?(?: ab)?{_E}",
)
IN_ACCOUNT = phrases(
    rf"(?:no,? |nein,? )?(?:(?:in|from|with|use|im|vom|von|mit|nimm) )?(?:(?:the|my|dem|das|meinem) )?(?:(?:account|konto|mailkonto) )?[\"“„]?(?P<account>[^\"”“\n?!.,:]{{1,60}}?)[\"”“]?{_E}",
)
