# SPDX-License-Identifier: Apache-2.0
"""Just enough of C++'s surface for tools/check_layers.py: code without comments and strings, and
where functions begin and end. It relies on clang-format's layout (a space before a body's brace).
"""

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')",
    re.DOTALL,
)


def split(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The code with comments and literals blanked (lines kept); the literals as (line, text)."""
    strings: list[tuple[int, str]] = []

    def blank(match: re.Match[str]) -> str:
        whole = match[0]
        line = text.count("\n", 0, match.start()) + 1
        if match["raw"]:
            strings.append((line, whole.split("(", 1)[1].rsplit(")", 1)[0]))
        elif match["string"]:
            strings.append((line, whole[1:-1]))
        elif match["char"]:
            return "' '"
        body = "\n" * whole.count("\n")
        return f'""{body}' if match["raw"] or match["string"] else body or " "

    # Includes keep their quoted names out of the literals.
    prepared = re.sub(r'^([ \t]*#[ \t]*include)[ \t]*"[^"\n]*"', r"\1", text, flags=re.MULTILINE)
    text = prepared
    return TOKEN.sub(blank, prepared), strings


def kind_of(head: str, spaced: bool, inside_function: bool) -> str:
    """What the brace after `head` opens: namespace, type, function, or block."""
    if inside_function:
        return "block"
    head = head.strip()
    if re.search(r"\bnamespace\b", head) or re.fullmatch(r'extern\s*""', head):
        return "namespace"
    if not spaced or not head:
        return "block"
    before_parenthesis = head.split("(")[0]
    if "(" not in head:
        return "type" if re.search(r"\b(class|struct|union|enum)\b", head) else "block"
    if re.search(r"[^=!<>]=(?!=)", before_parenthesis) and "operator" not in before_parenthesis:
        return "block"
    if re.search(
        r"^\s*(template\s*<.*>\s*)?(class|struct|union|enum)\b[^(]*$", before_parenthesis
    ) and re.search(r":\s*(public|private)", head):
        return "type"
    return "function"


def function_name(head: str) -> str:
    names = re.findall(r"([~\w:]+|operator\S+)\s*\(", head)
    return names[0] if names else "?"


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function that is not inside another."""
    code, _ = split(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", code, flags=re.MULTILINE)
    stack: list[tuple[str, int, str]] = []
    head_start = 0
    line = 1
    head_line = 1
    for position, char in enumerate(code):
        if char == "\n":
            line += 1
        if char.isspace():
            continue
        if position >= head_start and not code[head_start:position].strip():
            head_line = line
        if char == "{":
            head = code[head_start:position]
            spaced = position == 0 or code[position - 1].isspace()
            inside = any(kind == "function" for kind, _, _ in stack)
            kind = kind_of(head, spaced, inside)
            stack.append((kind, head_line, head))
            if kind != "block" or spaced:
                head_start = position + 1
        elif char == "}" and stack:
            kind, first, head = stack.pop()
            if kind == "function":
                yield function_name(head), first, line - first + 1
            if kind != "block" or re.match(r"\s*\n", code[position + 1 : position + 2] or "\n"):
                head_start = position + 1
        elif char == ";":
            head_start = position + 1
