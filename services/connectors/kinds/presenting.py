"""The credential of one call: which one is shown now, what is shown when that is not accepted, and what must never come back."""

from services.connectors.kinds.credentials import AuthSettings, Shown, show
from services.connectors.kinds.kind import Exchange
from services.connectors.kinds.masking import Mask, values_of
from services.connectors.kinds.token_files import Tokens
from services.connectors.kinds.token_request import fetch_tokens
from services.connectors.secrets.types import SecretValue


class Presenting:
    """`secret`: None where none is shown, to other hosts among them."""

    def __init__(self, exchange: Exchange, settings: AuthSettings, secret: SecretValue | None) -> None:
        self._exchange, self._settings, self._secret = exchange, settings, secret
        self._token = ""
        self._shown: set[str] = set()
        self._renewed = self._older = False

    async def shown(self, rejected: str = "") -> Shown:
        """`rejected`: the access token that was not accepted."""
        secret = self._secret
        if secret is None:
            return Shown()
        self._shown.update(values_of(secret))
        if "oauth2" in self._settings.auth:
            self._token = await self._exchange.access.token(secret, self._fetch, rejected)
            self._shown.add(self._token)
        return show(self._settings, secret, self._token)

    async def another(self) -> bool:
        """What was shown is not accepted: a fresh access token, then the version before, each once. Whether there is one."""
        secret = self._secret
        if secret is None:
            return False
        if self._token and not self._renewed:
            self._renewed = True
            await self.shown(self._token)
            return True
        if self._older:
            return False
        self._older = True
        other = await self._exchange.rejected()
        if other is not None:
            self._secret, self._token, self._renewed = other, "", False
            self._exchange.note(f"{secret.label} was not accepted; {other.label} was shown instead")
        return other is not None

    def mask(self) -> Mask:
        """Of everything that was shown."""
        return Mask(self._shown)

    async def _fetch(self, refresh_token: str) -> Tokens:
        assert self._secret is not None
        self._exchange.note("an access token was fetched")
        found = await fetch_tokens(self._exchange.way, self._secret, refresh_token or "")
        self._shown.update(each for each in (found.access, found.refresh, refresh_token) if each)
        return found
