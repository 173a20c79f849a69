"""Every example of the package's docstrings runs, and everything public has words."""

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import pathlib
import pkgutil
import re
import tempfile

import package

package.wanted("numpy")
attnscope = package.wanted("attnscope")
report = package.wanted("program").Report()
# What they need besides; where it is missing their examples are left out, and that is said.
NEEDS = {"torch": ["torch"], "_torch_operator": ["torch"], "notebook": ["anywidget"], "figures": ["matplotlib"]}

for info in pkgutil.iter_modules(attnscope.__path__):
    missing = [name for name in NEEDS.get(info.name, []) if importlib.util.find_spec(name) is None]
    if missing:
        print(f"left out: attnscope.{info.name}, for {', '.join(missing)} is not installed")
        continue
    if info.name in ("_core", "__main__"):
        continue
    module = importlib.import_module(f"attnscope.{info.name}")
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report.check(result.failed == 0, f"attnscope.{info.name}: {result.failed} of {result.attempted} examples")
for name in attnscope.__all__:
    thing = getattr(attnscope, name)
    report.check(bool(inspect.getdoc(thing)), f"attnscope.{name} has a docstring")


def page():
    """The blocks of docs/python.md, one after the other in an empty folder, as a reader would type them."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    names, blocks = {}, re.findall(r"^```python *(\w*)\n(.*?)^```$", text, re.M | re.S)
    for need, block in blocks:
        if any(importlib.util.find_spec(each) is None for each in need.split("_") if each):
            print(f"left out: a block of docs/python.md, for {need} is not installed")
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, "docs/python.md", "exec"), names)
            report.check(True, block)
        except Exception as error:
            report.check(False, f"docs/python.md: {type(error).__name__}: {error}\n{block}")
    report.check(len(blocks) >= 8, f"the page has {len(blocks)} blocks")


def stubs():
    """Each function and method of a stub has the arguments, in their order and kinds, that it has when it runs."""
    looked_at = 0
    for file in sorted(pathlib.Path(attnscope.__path__[0]).glob("*.pyi")):
        name = file.stem
        if name == "_core" or any(importlib.util.find_spec(need) is None for need in NEEDS.get(name, [])):
            continue
        module = attnscope if name == "__init__" else importlib.import_module(f"attnscope.{name}")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for scope, node in [(module, n) for n in tree.body] + [
            (getattr(module, c.name), n) for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body
        ]:
            if not isinstance(node, ast.FunctionDef) or any(isinstance(d, ast.Name) for d in node.decorator_list):
                continue
            looked_at += 1
            real = list(inspect.signature(getattr(scope, node.name)).parameters.values())
            given = node.args
            wanted = [(a.arg, "POSITIONAL_OR_KEYWORD") for a in given.args]
            wanted += [(given.vararg.arg, "VAR_POSITIONAL")] if given.vararg else []
            wanted += [(a.arg, "KEYWORD_ONLY") for a in given.kwonlyargs]
            wanted += [(given.kwarg.arg, "VAR_KEYWORD")] if given.kwarg else []
            report.check([(p.name, p.kind.name) for p in real] == wanted, f"{file.name}: {node.name} has {wanted}")
    report.check(looked_at > 40, f"{looked_at} functions of the stubs were looked at")


stubs()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    page()
    os.chdir("/")
report.exit(20)
