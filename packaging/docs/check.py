#!/usr/bin/env python3
"""check.py FOLDER: checks the links of a built book: each link to a page of the book leads to an existing file, and to
an existing element if the link has a fragment. Prints each wrong link. Does not check links to other sites."""

import functools
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the ids of one page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            # The links of <link> are icons and styles, with paths that mdBook itself has written.
            elif name in ("href", "src") and value and tag in ("a", "img"):
                self.links.add(value)


@functools.cache
def read(path):
    return Page(path)


def wrong_links(folder):
    """Yields (page, link) for each link that leads to nothing."""
    for path in sorted(folder.rglob("*.html")):
        # Their links begin at the root of the site.
        if path.name in ("404.html", "toc.html"):
            continue
        for link in sorted(read(path).links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            found = target.is_file() and target.is_relative_to(folder)
            if found and parts.fragment and target.suffix == ".html":
                found = urllib.parse.unquote(parts.fragment) in read(target).ids
            if not found:
                yield path.relative_to(folder), link


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages = len(list(folder.rglob("*.html")))
    wrong = list(wrong_links(folder))
    for page, link in wrong:
        print(f"{page}: {link} leads to nothing", file=sys.stderr)
    if wrong or not pages:
        sys.exit(f"error: {len(wrong)} wrong links in {pages} pages")
    print(f"{pages} pages, all links lead to a page", file=sys.stderr)


if __name__ == "__main__":
    main()
