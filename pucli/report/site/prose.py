"""HTML from the Markdown of this project: headings, paragraphs, lists, tables, code, emphasis, links."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

_RULE = re.compile(r"^\|[\s:|-]+\|$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def to_html(text: str, link: Callable[[str], str] = str) -> str:
    """Return the HTML of the Markdown of reports and notes; tags are escaped.

    `link` maps the target of a link to its target in the site, or to "" to drop the link.

    Examples
    --------
    >>> to_html("A *b* and `c`.")
    '<p>A <em>b</em> and <code>c</code>.</p>'
    """
    blocks = re.split(r"\n\s*\n", _COMMENT.sub("", text).strip("\n"))
    return "\n".join(_block(block.strip("\n"), link) for block in blocks if block.strip())


def _block(block: str, link: Callable[[str], str]) -> str:
    lines = block.splitlines()
    heading = re.match(r"(#{1,4}) (.*)", lines[0])
    if heading:
        level, rest = len(heading[1]), "\n".join(lines[1:])
        mark = re.sub(r"[^a-z0-9]+", "-", heading[2].lower()).strip("-")
        made = f'<h{level} id="{mark}">{_inline(heading[2], link)}</h{level}>'
        return made + ("\n" + _block(rest, link) if rest.strip() else "")
    if all(line.startswith("|") for line in lines) and len(lines) > 1 and _RULE.match(lines[1]):
        return _table(lines, link)
    if lines[0].startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{_inline(' '.join(item.split()), link)}</li>" for item in items) + "</ul>"
    if lines[0].startswith("    "):
        return f'<pre tabindex="0">{escape(block)}</pre>'
    listed = next((i for i, line in enumerate(lines) if line.startswith(("- ", "| "))), 0)
    if listed:  # a list or table without a blank line before it
        before, after = "\n".join(lines[:listed]), "\n".join(lines[listed:])
        return _block(before, link) + "\n" + _block(after, link)
    return f"<p>{_inline(' '.join(lines), link)}</p>"


def _table(lines: list[str], link: Callable[[str], str]) -> str:
    right = [cell.strip().endswith(":") for cell in lines[1].strip("|").split("|")]

    def row(line: str, tag: str) -> str:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        marks = [' class="n"' if right[i] else "" for i in range(len(cells))]
        # headings without words are left out
        tags = [tag if cell else "td" for cell in cells]
        scopes = [' scope="col"' if tag == "th" else "" for tag in tags]
        parts = zip(tags, scopes, marks, cells, strict=True)
        shown = (f"<{tag}{scope}{mark}>{_inline(cell, link)}</{tag}>" for tag, scope, mark, cell in parts)
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(row(line, "td") for line in lines[2:])
    return (
        '<div class="scroll" tabindex="0"><table class="sortable">'
        f"<thead>{row(lines[0], 'th')}</thead><tbody>{body}</tbody></table></div>"
    )


def _inline(text: str, link: Callable[[str], str]) -> str:
    """Return a line with code, links and emphasis; code is left unchanged."""
    parts = re.split(r"(`[^`]+`)", text.replace("\\|", "|"))
    return "".join(
        f"<code>{escape(part[1:-1])}</code>" if part.startswith("`") and len(part) > 1 else _plain(part, link)
        for part in parts
    )


def _plain(text: str, link: Callable[[str], str]) -> str:
    def anchor(match: re.Match[str]) -> str:
        target = link(match[2])
        return f'<a href="{target}">{match[1]}</a>' if target else match[1]

    made = escape(text, quote=False)
    made = re.sub(r"!\[[^]]*\]\([^)]*\)", "", made)
    made = re.sub(r"\[([^]]+)\]\(([^)]+)\)", anchor, made)
    made = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", made)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", made)
