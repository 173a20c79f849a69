"""python -m attnscope: the program."""

from .program import main

main()
