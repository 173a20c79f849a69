"""Every example of the package's docstrings runs, and everything public has words."""

import doctest
import importlib
import inspect
import pkgutil

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
report.exit(10)
