#!/usr/bin/env python3
"""Preprocessor of mdBook: adds the pages outside docs/ to the book, and adapts the links of all pages.

The pages are written for a repository browser: their links lead to files of the repository. In the book, a link to a
page leads to its chapter. A link to any other file of the repository leads below REPOSITORY_URL, as in
https://git.example.org/workshop-launcher/blob/main. Without this variable, such a link becomes its text.
"""

import json
import os
import pathlib
import posixpath
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages outside docs/, with their chapters: {file of the repository: (path in the book, title)}.
OUTSIDE = {
    "quickstart/README.md": ("quickstart.md", "Quickstart: a cluster on your machine"),
    "ARCHITECTURE.md": ("architecture.md", "Architecture"),
    "CONTRIBUTING.md": ("contributing.md", "Contributing"),
    "CHANGELOG.md": ("changelog.md", "Changes"),
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def in_book(path):
    """Returns the path in the book of a file of the repository, or None if the book does not have the file."""
    if path in OUTSIDE:
        return OUTSIDE[path][0]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def adapt_link(found, page):
    """Returns the link for the book. `page` is the path of its page in the repository."""
    image, text, target = found.groups()
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return found[0]
    path, hash_sign, anchor = target.partition("#")
    linked = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    chapter = in_book(linked)
    if chapter is not None:
        relative = posixpath.relpath(chapter, posixpath.dirname(in_book(page)) or ".")
        return f"{image}[{text}]({relative}{hash_sign}{anchor})"
    repository = os.environ.get("REPOSITORY_URL", "").rstrip("/")
    return f"{image}[{text}]({repository}/{linked})" if repository else text


def adapt(text, page):
    """Adapts the links of a page, except in fenced code."""
    parts = FENCED.split(text)
    return "".join(part if number % 2 else LINK.sub(lambda found: adapt_link(found, page), part)
                   for number, part in enumerate(parts))


def adapt_chapters(items):
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            if chapter.get("source_path"):
                chapter["content"] = adapt(chapter["content"], f"docs/{chapter['source_path']}")
            adapt_chapters(chapter["sub_items"])


def chapters_outside():
    """Returns the chapters of the pages outside docs/, as items of the book."""
    for page, (path, title) in OUTSIDE.items():
        content = adapt((ROOT / page).read_text(), page)
        yield {"Chapter": {"name": title, "content": content, "number": None, "sub_items": [], "path": path,
                           "source_path": None, "parent_names": []}}


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    adapt_chapters(book["items"])
    book["items"] += [{"PartTitle": "The repository"}, *chapters_outside()]
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
