"""What a person has in their workspace, to be given to them or deleted as a whole."""

from collections.abc import AsyncIterator

from schemas.outward import Owner
from services.agent.memory.files import Workspaces


class WorkspaceHolding:
    name = "workspace"
    tables = frozenset({"workspace_marks"})

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """Every file as it is."""
        async for path, content in self._workspaces.export(owner):
            yield f"workspace/{path}", content

    async def forget(self, owner: Owner) -> int:
        return await self._workspaces.forget(owner)
