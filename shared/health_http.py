"""Health and metrics over HTTP on a Unix socket under the state directory."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from shared.health import Health


def health_app(health: Health) -> Starlette:
    """/live, /ready (503 until ready), /health (JSON report), /metrics (Prometheus text)."""

    async def live(_: Request) -> Response:
        return PlainTextResponse("live\n")

    async def ready(_: Request) -> Response:
        return PlainTextResponse("ready\n" if health.ready else "not ready\n", 200 if health.ready else 503)

    async def report(_: Request) -> Response:
        return JSONResponse(health.report())

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(health.metrics(), media_type="text/plain; version=0.0.4")

    return Starlette(
        routes=[Route("/live", live), Route("/ready", ready), Route("/health", report), Route("/metrics", metrics)]
    )
