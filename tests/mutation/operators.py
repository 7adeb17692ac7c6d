"""What a mutant is: one small change of one expression, found in the syntax tree and made in the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
REVERSED = {ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<="}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}
# one function in place of another
CALLS = {
    "floor": "ceil",
    "ceil": "floor",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "mean": "sum",
    "any": "all",
    "all": "any",
    "sqrt": "abs",
}
# rows of one purpose in place of those of another
ROWS = {
    "X_train": "X_test",
    "X_test": "X_train",
    "train": "test",
    "test": "train",
    "valid": "train",
    "labeled": "~labeled",
}
# what a change within means nothing for
SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes `start` to `end` of a file become `after`."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """Return the file with the change in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(root: Path, file: str) -> list[Mutant]:
    """Return all mutants of the functions of a file."""
    source = (root / file).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, inside in _expressions(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        for kind, after in _changes(node, inside):
            before = source[start:end].decode()
            if "\n" not in before and before != after:
                found.append(Mutant(file, node.lineno, kind, start, end, before, after))
    return found


def _expressions(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yield (expression, what it stands in) of all functions; no annotations, decorators, defaults or messages."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _within(statement, function)


def _within(node: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    if isinstance(node, (*SKIPPED, ast.FunctionDef)):
        return
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
        return
    if isinstance(node, ast.expr):
        yield node, parent
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "targets", "target"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _within(child, node)


def _changes(node: ast.expr, parent: ast.AST) -> Iterator[tuple[str, str]]:  # noqa: C901
    """Yield (kind, new text) for an expression."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        for kind, table in (("edge of a comparison", COMPARISONS), ("comparison turned round", REVERSED)):
            if type(node.ops[0]) in table:
                yield kind, f"{left} {table[type(node.ops[0])]} {right}"  # type: ignore[index]
    elif isinstance(node, ast.BinOp):
        left, right = f"({ast.unparse(node.left)})", f"({ast.unparse(node.right)})"
        if type(node.op) in ARITHMETIC and not isinstance(node.left, (ast.Constant, ast.JoinedStr)):
            yield "operator", f"({left} {ARITHMETIC[type(node.op)]} {right})"
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            yield "term dropped", left
    elif isinstance(node, ast.BoolOp):
        joined = " or " if isinstance(node.op, ast.And) else " and "
        yield "and, or", "(" + joined.join(f"({ast.unparse(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, (ast.USub, ast.Not)):
            yield (
                "sign",
                ast.unparse(node.operand) if isinstance(node.op, ast.USub) else f"bool({ast.unparse(node.operand)})",
            )
    elif isinstance(node, ast.Constant):
        if type(node.value) is int and isinstance(parent, (ast.BinOp, ast.Subscript, ast.Slice, ast.Compare, ast.Call)):
            yield "off by one", str(node.value + 1)
        if isinstance(node.value, bool):
            yield "switch", str(not node.value)
    elif (
        isinstance(node, ast.Attribute) and node.attr in CALLS and isinstance(parent, ast.Call) and parent.func is node
    ):
        yield "function", f"{ast.unparse(node.value)}.{CALLS[node.attr]}"
    elif isinstance(node, ast.Name) and node.id in CALLS and isinstance(parent, ast.Call) and parent.func is node:
        yield "function", CALLS[node.id]
    elif isinstance(node, ast.Name) and node.id in ROWS and not isinstance(parent, (ast.Assign, ast.UnaryOp)):
        yield "other rows", ROWS[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in ROWS:
        yield "other rows", f"{ast.unparse(node.value)}.{ROWS[node.attr].lstrip('~')}"
    elif isinstance(node, ast.IfExp):
        yield (
            "condition turned round",
            f"({ast.unparse(node.orelse)} if {ast.unparse(node.test)} else {ast.unparse(node.body)})",
        )
