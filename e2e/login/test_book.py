"""Tests of the book of docs/: its table of contents, and the links that packaging/docs/links.py writes."""

import json
import os
import posixpath
import re
import subprocess

from chart import ROOT
from harness import DEADLINE
from test_docs import anchors

DOCS = ROOT / "docs"
LINKS = ROOT / "packaging/docs/links.py"
REPOSITORY = "https://git.example.org/launcher/blob/main"
CHAPTERS = re.findall(r"\]\(([^)]+\.md)\)", (DOCS / "SUMMARY.md").read_text())


def preprocess(chapters, repository=REPOSITORY):
    """Runs the preprocessor as mdBook does. Returns {path in the book: content}."""
    fixed = {"number": None, "sub_items": [], "parent_names": []}
    made = [{"name": path, "content": text, "path": path, "source_path": path, **fixed} for path, text in chapters.items()]
    book = {"items": [{"Chapter": one} for one in made]}
    environment = os.environ | {"REPOSITORY_URL": repository}
    done = subprocess.run(
        [LINKS], input=json.dumps([{}, book]), env=environment, check=True, capture_output=True, text=True, timeout=DEADLINE
    )
    found = [item["Chapter"] for item in json.loads(done.stdout)["items"] if "Chapter" in item]
    return {one["path"]: one["content"] for one in found}


def test_table_of_contents_lists_every_page_once_with_its_title():
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if page.name != "SUMMARY.md"]
    assert sorted(CHAPTERS) == sorted(pages)
    titles = {path: title for title, path in re.findall(r"\[(.+)\]\((.+\.md)\)", (DOCS / "SUMMARY.md").read_text())}
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


LINKS_IN_BOOK = {
    "[a](install.md#x)": "[a](install.md#x)",
    "[a](../ARCHITECTURE.md#terms)": "[a](architecture.md#terms)",
    "[a](../quickstart/README.md)": "[a](quickstart.md)",
    "[a](../deploy/rbac.yaml)": f"[a]({REPOSITORY}/deploy/rbac.yaml)",
    "[a](https://example.org/x.md)": "[a](https://example.org/x.md)",
    "[a](#x)": "[a](#x)",
    "```\n[a](../deploy/rbac.yaml)\n```": "```\n[a](../deploy/rbac.yaml)\n```",
}


def test_links_are_adapted():
    pages = {f"{number}.md": link for number, link in enumerate(LINKS_IN_BOOK)}
    made = preprocess(pages | {"adr/page.md": "[a](../../ARCHITECTURE.md)"})
    assert [made[f"{number}.md"] for number in range(len(LINKS_IN_BOOK))] == list(LINKS_IN_BOOK.values())
    assert made["adr/page.md"] == "[a](../architecture.md)", "a link is relative to its chapter"
    # Without the address of the repository, a link outside the book becomes text.
    assert preprocess({"page.md": "[a](../deploy/rbac.yaml) b"}, repository="")["page.md"] == "a b"
    assert subprocess.run([LINKS, "supports", "html"], timeout=DEADLINE).returncode == 0
