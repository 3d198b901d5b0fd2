"""Tests of the book of docs/: its table of contents, and the links that packaging/docs/links.py writes."""

import json
import os
import posixpath
import re
import subprocess

import pytest

from chart import ROOT
from test_docs import anchors

DOCS = ROOT / "docs"
LINKS = ROOT / "packaging/docs/links.py"
REPOSITORY = "https://git.example.org/launcher/blob/main"
CHAPTERS = re.findall(r"\]\(([^)]+\.md)\)", (DOCS / "SUMMARY.md").read_text())


def chapter(path, content):
    place = {"path": path, "source_path": path, "parent_names": []}
    return {"name": path, "content": content, "number": None, "sub_items": [], **place}


def preprocess(chapters, repository=REPOSITORY):
    """Runs the preprocessor as mdBook does. Returns {path in the book: content}."""
    book = {"items": [{"Chapter": chapter(path, content)} for path, content in chapters.items()]}
    environment = os.environ | {"REPOSITORY_URL": repository}
    done = subprocess.run(
        [LINKS], input=json.dumps([{}, book]), env=environment, check=True, capture_output=True, text=True, timeout=30
    )
    found = [item["Chapter"] for item in json.loads(done.stdout)["items"] if "Chapter" in item]
    return {one["path"]: one["content"] for one in found}


def test_table_of_contents_lists_every_page_once():
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if page.name != "SUMMARY.md"]
    assert sorted(CHAPTERS) == sorted(pages)


def test_chapters_have_the_titles_of_their_pages():
    listed = re.findall(r"\[(.+)\]\((.+\.md)\)", (DOCS / "SUMMARY.md").read_text())
    titles = {path: title for title, path in listed}
    assert {path: (DOCS / path).read_text().split("\n")[0].removeprefix("# ") for path in titles} == titles


def test_links_of_book_lead_to_chapters_files_or_the_repository(tmp_path):
    made = preprocess({path: (DOCS / path).read_text() for path in CHAPTERS})
    for path, content in made.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    assert set(CHAPTERS) < set(made)
    for path, content in made.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^ *```.*?^ *```$", "", content, flags=re.M | re.S)):
            if target.startswith(f"{REPOSITORY}/"):
                assert (ROOT / target.removeprefix(f"{REPOSITORY}/").split("#")[0]).exists(), f"{path}: {target}"
            elif not re.match("[a-z]+:", target):
                name, _, anchor = target.partition("#")
                linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
                assert linked in made or (DOCS / linked).is_file(), f"{path}: {target}"
                assert not anchor or anchor in anchors(tmp_path / linked), f"{path}: {target}"


@pytest.mark.parametrize(
    "link,expected",
    [
        ("[a](install.md#x)", "[a](install.md#x)"),
        ("[a](../ARCHITECTURE.md#terms)", "[a](architecture.md#terms)"),
        ("[a](../quickstart/README.md)", "[a](quickstart.md)"),
        ("[a](../deploy/rbac.yaml)", f"[a]({REPOSITORY}/deploy/rbac.yaml)"),
        ("[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
        ("[a](#x)", "[a](#x)"),
        ("```\n[a](../deploy/rbac.yaml)\n```", "```\n[a](../deploy/rbac.yaml)\n```"),
    ],
)
def test_link_is_adapted(link, expected):
    assert preprocess({"page.md": link})["page.md"] == expected


def test_link_in_subfolder_is_relative_to_its_chapter():
    assert preprocess({"adr/page.md": "[a](../../ARCHITECTURE.md)"})["adr/page.md"] == "[a](../architecture.md)"


def test_link_outside_book_becomes_text_without_address_of_repository():
    assert preprocess({"page.md": "[a](../deploy/rbac.yaml) b"}, repository="")["page.md"] == "a b"


def test_preprocessor_supports_html():
    assert subprocess.run([LINKS, "supports", "html"], timeout=30).returncode == 0
