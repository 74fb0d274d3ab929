"""Version of the code that makes a row."""

import ast
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

#: Version in rows that were made before rows had one.
BEFORE = "before"

#: Parts of the package that decide which features are selected.
DECIDING = ("criteria", "data", "engine", "kernels", "selection")


@lru_cache
def version(*, ours: bool) -> str:
    """Version of the package, for our own methods followed by a fingerprint of the code that decides.

    Examples
    --------
    >>> version(ours=False).count(".")
    2
    >>> len(version(ours=True)) - len(version(ours=False))
    9
    """
    import bahsic  # not before a copy of it may have been put on the path

    if not ours:
        return bahsic.__version__
    root = Path(bahsic.__file__).parent
    return f"{bahsic.__version__}+{fingerprint(root / part for part in DECIDING)}"


def fingerprint(folders: Iterable[Path]) -> str:
    """Eight hexadecimal digits of a hash over the code of the Python files in these folders, and their names.

    Comments, docstrings, layout, annotations and imports of `typing` decide nothing, and take no part.
    """
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder.parent).as_posix()}\n".encode())
            found.update(ast.dump(_Bare().visit(ast.parse(path.read_text(encoding="utf-8")))).encode())
    return found.hexdigest()[:8]


class _Bare(ast.NodeTransformer):
    """Removes docstrings, and other expressions that are constants, annotations of functions, and imports for these."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        return None if node.module == "typing" else node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node
