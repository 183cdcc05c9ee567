"""The two editions of the site. Each has its own view of what is published, its own lists, pages in memory and search.

Nothing is filtered when a page is made: the public's edition does not hold what is for members.
"""

from dataclasses import dataclass

from services.site.publication.shelf import View
from services.site.reading.cache import PRIVATE, SHARED, PageCache
from services.site.reading.catalog import Catalog
from services.site.reading.layout import Layout


@dataclass(frozen=True)
class Edition:
    """What one readership reads. `is_public`: others may cache it (S7); there is no personal word in either."""

    view: View
    catalog: Catalog
    cache: PageCache
    layout: Layout
    is_public: bool

    @property
    def caching(self) -> bytes:
        return SHARED if self.is_public else PRIVATE
