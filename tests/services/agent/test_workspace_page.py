"""The workspace's front door."""

import httpx2 as httpx
import pytest

from services.agent.pages import workspace_app
from shared.testing.servers import Servers


@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/chat", 404), ("/static/base.css", 200), ("/static/../pages.py", 404)]
)
async def test_the_workspace_has_its_shell_and_nothing_else(servers: Servers, path: str, status: int) -> None:
    settings = servers.settings("agent")
    transport = httpx.ASGITransport(app=workspace_app(settings))
    async with httpx.AsyncClient(transport=transport, base_url=settings.url) as client:
        answer = await client.get(path)
        assert answer.status_code == status
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert (await client.get(path, headers={"host": "localhost:1"})).status_code == 421
        assert (await client.post(path, headers={"origin": "http://evil.test"})).status_code == 403
