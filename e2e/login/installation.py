"""Reads the numbered steps that install the chart from docs/install.md."""

import dataclasses
import re
import shlex
import textwrap

from chart import ROOT

SECTION = re.compile(r"^## Install in seven steps$(.*?)^## ", re.MULTILINE | re.DOTALL)
# Markdown indents a code block of a step by four columns more than its text.
CODE = re.compile(r"(?:^ {7}.*\n)+", re.MULTILINE)
FILE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Step:
    """One numbered step: its Markdown without the number."""

    text: str

    def __str__(self):
        return self.text.split(". ")[0]

    @property
    def prose(self):
        """The text of the step without its code blocks."""
        return " ".join(FILE.sub("", CODE.sub("", self.text)).split())

    @property
    def code(self):
        """The lines of the indented code blocks. A line that ends with a backslash continues in the next one."""
        blocks = [textwrap.dedent(block) for block in CODE.findall(FILE.sub("", self.text))]
        return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]

    @property
    def commands(self):
        """The commands of the step, each as a list of words."""
        return [shlex.split(line) for line in self.code if not line.startswith("https://")]

    @property
    def addresses(self):
        return [line for line in self.code if line.startswith("https://")]

    @property
    def files(self):
        """The files that the step saves: {name: text}."""
        return dict(zip(re.findall(r"[Ss]ave this file as `([^`]+)`", self.prose), FILE.findall(self.text), strict=True))

    @property
    def names(self):
        """Host names in the text, and wildcard names."""
        return re.findall(r"`((?:\*\.)?[a-z]+(?:\.[a-z]+)*\.example\.(?:org|net))`", self.prose)


def steps():
    """Returns the steps of the installation, in their order."""
    section = SECTION.search((ROOT / "docs/install.md").read_text())[1]
    # The text after the last step is not indented.
    section = re.sub(r"\n\n(?=On OpenShift).*", "\n", section, flags=re.DOTALL)
    return [Step(text) for text in re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]]
