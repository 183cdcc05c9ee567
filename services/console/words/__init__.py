"""The console's languages: English is what stands in the source, German is looked up in `de/*.toml`.

`Words("de").say("Nothing is waiting.")`; with values, `say("Sign out {who}", who=name)`. What Python or another part said in English with values
in it already, such as an error's message, is found by its pattern: `say(error.message)`. What is in no file is shown in English.
"""

from services.console.words.catalogue import script_words
from services.console.words.languages import LANGUAGES, Language, as_language, language_of
from services.console.words.words import Words

__all__ = ["LANGUAGES", "Language", "Words", "as_language", "language_of", "script_words"]
