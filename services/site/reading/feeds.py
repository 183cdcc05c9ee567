"""For programs: Atom feed, site map, robots.txt."""

from collections.abc import Sequence
from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from services.site.publication.domain import Published
from services.site.reading.rendering import href

FEED_ENTRIES = 30
MAX_SITEMAP = 50_000


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def atom(items: Sequence[Published], base_url: str, path: str, updated: datetime) -> bytes:
    """RFC 4287. `items` newest first; `path` is the feed's own address."""
    entries = "".join(_entry(item, base_url) for item in items[:FEED_ENTRIES])
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>Schleuse</title><id>{escape(base_url + path)}</id><updated>{_stamp(updated)}</updated>"
        f'<link rel="self" type="application/atom+xml" href={quoteattr(base_url + path)}/>'
        f"<link href={quoteattr(base_url + '/')}/><author><name>Schleuse</name></author>{entries}</feed>\n"
    ).encode()


def _entry(item: Published, base_url: str) -> str:
    address = base_url + href(item.url)
    return (
        f"<entry xml:lang={quoteattr(item.lang)}><title>{escape(_printable(item.title))}</title>"
        f"<id>urn:uuid:{item.item_id}</id><link href={quoteattr(address)}/>"
        f"<published>{_stamp(item.decided_at)}</published><updated>{_stamp(item.published_at)}</updated>"
        f"<category term={quoteattr(item.kind)}/><summary>{escape(_printable(item.summary))}</summary></entry>"
    )


def _printable(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return "".join(each for each in text if each in "\t\n\r" or (each >= " " and each not in "\ufffe\uffff"))


def sitemap(items: Sequence[Published], base_url: str) -> bytes:
    urls = "".join(
        f"<url><loc>{escape(base_url + href(item.url))}</loc><lastmod>{_stamp(item.published_at)}</lastmod></url>"
        for item in items[:MAX_SITEMAP]
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{escape(base_url)}/</loc></url>{urls}</urlset>\n"
    ).encode()


def robots(base_url: str) -> bytes:
    return f"User-agent: *\nDisallow: /search\nDisallow: /signals/\nDisallow: /s/\nDisallow: /l/\nDisallow: /sign-in\nDisallow: /invited/\nSitemap: {base_url}/sitemap.xml\n".encode()
