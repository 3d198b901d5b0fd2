"""Parser of nginx configuration files."""

import re

from chart import RELEASE


def parsed(text):
    """Parses an nginx configuration into a tree: [(words of the directive, block of the directive or None)]."""
    pattern = r'#[^\n]*|"(?:[^"\\]|\\.)*"|[{};](?=\s|$)|(?:[^\s{};"]|[{}](?=\S))+|[{};]'
    tokens = [token for token in re.findall(pattern, text) if not token.startswith("#")]

    def block(position):
        found, words = [], []
        while position < len(tokens):
            token, position = tokens[position], position + 1
            if token == "}":
                break
            if token == ";":
                found.append((tuple(words), None))
                words = []
            elif token == "{":
                inner, position = block(position)
                found.append((tuple(words), inner))
                words = []
            else:
                words.append(token.strip('"'))
        return found, position

    return block(0)[0]


def blocks(tree, name):
    """Returns the blocks of all directives with this name: {arguments: block}."""
    return {" ".join(words[1:]): inner for words, inner in tree if inner is not None and words[0] == name}


def directives(tree, name):
    """Returns the arguments of all directives with this name that have no block."""
    return [words[1:] for words, inner in tree if inner is None and words[0] == name]


def the(tree, name):
    """Returns the arguments of the directive with this name, or None. Fails if this directive is repeated."""
    found = directives(tree, name)
    assert len(found) <= 1, (name, found)
    return " ".join(found[0]) if found else None


def http_of(rendering):
    """Returns the http block of the front in a rendering of the chart."""
    return blocks(parsed(rendering.data(f"{RELEASE}-front")["nginx.conf"]), "http")[""]


def servers_of(http):
    """Returns the servers of nginx: {server_name: {location: block}}. The first server receives all unknown hosts."""
    found = [inner for words, inner in http if words == ("server",)]
    return {the(server, "server_name"): blocks(server, "location") for server in found}
