"""Mail: accounts, lists, reading, answering, sending, sorting, over several turns."""

from services.agent.builtin.domain import Intent
from services.agent.builtin.mail import digest, finding, phrases, sending, sorting
from services.agent.builtin.mail.showing import about_mail

READS, SENDS = ("email_search", "email_read"), ("email_send",)
INTENTS = (
    Intent("mail_confirm", phrases.CONFIRM, sending.confirm, when=sending.was_asked_whom),
    Intent("mail_saying", phrases.SAYING, sending.saying, when=sending.was_asked_text),
    Intent("mail_accounts", phrases.ACCOUNTS, finding.accounts, ("email_accounts",)),
    Intent("mail_adding", phrases.ADDING, finding.adding),
    Intent("mail_removing", phrases.REMOVING, sorting.remove_account, ("email_remove_account",)),
    Intent("mail_reply", phrases.REPLY, sending.reply, when=about_mail),
    Intent("mail_forward", phrases.FORWARD, sending.forward, when=about_mail),
    Intent("mail_send", phrases.SEND, sending.send, SENDS),
    Intent("mail_send_to", phrases.SEND_TO, sending.send_to, SENDS),
    Intent("mail_save", phrases.SAVE, sorting.save, when=about_mail),
    Intent("mail_flag", phrases.FLAG, sorting.flag, when=about_mail),
    Intent("mail_move", phrases.MOVE, sorting.move, when=about_mail),
    Intent("mail_put_away", phrases.PUT_AWAY, sorting.put_away, when=about_mail),
    Intent("mail_digest", digest.DIGEST, digest.digest, READS),
    Intent("mail_read", phrases.READ_MAIL, finding.reading, READS),
    Intent("mail_search", phrases.SEARCH, finding.searching, READS),
    Intent("mail_list", phrases.LIST, finding.listing, READS),
    Intent("mail_folders", phrases.FOLDERS, finding.folders, ("email_folders",)),
    Intent("mail_read_that", phrases.READ, finding.reading, when=about_mail),
    Intent("mail_in_account", phrases.IN_ACCOUNT, finding.in_account, when=finding.was_asked_which),
)
