"""Says which Python this is, and which versions of what peers need it has.

    python3 versions.py

Three lines (Python, torch, NumPy; empty: it has none), then one for each package of peers that is there:
"flash_attn=2.8.3". A version is the package's own record of it: importing torch takes seconds. flash_attn is the folder
of version 2 and of version 4, which may be there alone or together; to ask for a module inside would import what is
around it, so its file is looked for.
"""
import sys

if sys.version_info < (3, 8):  # also Python 2 reads this far
    sys.exit("Python " + sys.version.split()[0] + " is too old; peers need Python 3.8 or later.")

import importlib.metadata
import importlib.util
import os


def version(*names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return "(unknown version)"


def module(name):
    return version(name) if importlib.util.find_spec(name) is not None else ""


def has(file):
    spec = importlib.util.find_spec("flash_attn")
    places = [os.path.join(place, "flash_attn") for place in sys.path]
    places += (spec.submodule_search_locations or []) if spec is not None else []
    return any(os.path.isfile(os.path.join(place, file)) for place in places)


def main():
    print("\n".join((sys.version.split()[0], module("torch"), module("numpy"))))
    if has("flash_attn_interface.py"):
        print("flash_attn=" + version("flash_attn"))
    for name in ("flash_attn_interface", "fa3_fwd_interface"):
        if importlib.util.find_spec(name) is not None:
            print(name + "=" + version("flash_attn_3", "flash_attn_interface", "fa3-fwd"))
    if has(os.path.join("cute", "interface.py")):
        print("flash_attn.cute=" + version("flash-attn-4", "fa4", "flash_attn_cute"))


if __name__ == "__main__":
    main()
