#!/usr/bin/env python3
"""The core asks for no threads, processes, sockets or libraries at run time: python3 symbols.py LIBRARY...

Whatever its sources include, these names must not be undefined in its objects: glibc has them all, so a link says
nothing.
"""
import re
import subprocess
import sys

REFUSED = re.compile(r"^(pthread_(create|join|mutex_\w+|cond_\w+)|thrd_\w+|_ZNSt6thread\w*|_ZNSt18condition_variable\w*"
                     r"|dlopen|dlsym|fork|vfork|clone|exec[lv]\w*|posix_spawn\w*|waitpid|kill|socket\w*|poll|ppoll"
                     r"|popen|system|sched_\w+)$")


def main():
    bad, seen = [], 0
    for library in sys.argv[1:]:
        listed = subprocess.run(["nm", "--undefined-only", "--format=posix", library], check=True,
                                capture_output=True, text=True).stdout
        member = ""
        for line in listed.splitlines():
            if line.endswith(":"):
                member = line
                continue
            name = line.split()[0].split("@")[0] if line.split() else ""
            seen += 1
            if REFUSED.match(name):
                bad.append(f"{member} asks for {name}")
    for line in bad:
        print("FAILED", line)
    print(f"{seen} names that the core asks for, {len(bad)} of them refused")
    return 1 if bad or seen < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
