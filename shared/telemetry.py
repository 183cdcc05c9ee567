"""Traces. Spans name hops; they carry no bodies, SQL parameters or prompts (S14). The trace context travels with the outbox row."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.settings import Settings

_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("schleuse")


def start_tracing(settings: Settings) -> TracerProvider:
    """Spans are made always (ids are kept with every event) and exported when `otlp_endpoint` is set."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": settings.service, "service.namespace": "schleuse"})
    )
    if settings.otlp_endpoint:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - costs 10 MB

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint)))
    trace.set_tracer_provider(provider)
    return provider


def current_traceparent() -> str:
    """The W3C traceparent of the present span, or an empty string."""
    if trace.get_current_span() is trace.INVALID_SPAN:
        return ""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get("traceparent", "")


def trace_id_of(traceparent: str) -> str:
    """The 32 hex digits of a traceparent's trace id, or an empty string."""
    parts = traceparent.split("-")
    return parts[1] if len(parts) == 4 else ""


def _context(traceparent: str) -> Context:
    return _PROPAGATOR.extract({"traceparent": traceparent})


@contextmanager
def span(name: str, parent: str = "", links: Sequence[str] = (), consumer: bool = False) -> Iterator[None]:
    """A span under `parent` (a traceparent; empty: under the present one), linked to other traces for a batch."""
    linked = [
        Link(found)
        for each in links
        if each and (found := trace.get_current_span(_context(each)).get_span_context()).is_valid
    ]
    kind = SpanKind.CONSUMER if consumer else SpanKind.INTERNAL
    with _TRACER.start_as_current_span(name, context=_context(parent) if parent else None, links=linked, kind=kind):
        yield
