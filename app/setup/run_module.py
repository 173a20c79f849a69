"""Runs a module of Python's as a program, as `python3 -m MODULE ARGUMENTS` does, but looks for it in no current folder:
a pip.py that lies there is not ours to run.

    python3 run_module.py MODULE [ARGUMENTS]
"""
import runpy
import sys

del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
