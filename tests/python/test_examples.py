"""Every example of the package's docstrings runs, and everything public has words."""

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
NEEDS = {"torch": ["torch"]}

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
        if need and importlib.util.find_spec(need) is None:
            print(f"left out: a block of docs/python.md, for {need} is not installed")
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, "docs/python.md", "exec"), names)
            report.check(True, block)
        except Exception as error:
            report.check(False, f"docs/python.md: {type(error).__name__}: {error}\n{block}")
    report.check(len(blocks) >= 8, f"the page has {len(blocks)} blocks")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    page()
    os.chdir("/")
report.exit(20)
