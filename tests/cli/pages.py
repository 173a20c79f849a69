"""The commands that stand in the pages: fenced blocks, and `attnscope …` wherever it is mentioned."""

import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The pages whose `sh` blocks run, and all of which every `attnscope …` is parsed.
RUN = [ROOT / "README.md", ROOT / "docs" / "tour.md", ROOT / "CONTRIBUTING.md"]
PARSED = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.M | re.S)
# What a page writes for "any": the pages may use these words, and a new one is refused until it stands here.
PLACEHOLDERS = {
    "COMMAND": "list", "FILE": "file", "FILE.attn": "file.attn", "FILE.cu": "file.cu", "FILE.html": "file.html",
    "FILE.json": "file.json", "FILE.npy": "file.npy", "FILE.png": "file.png", "FILE.py": "file.py", "FOLDER": "folder",
    "ID": "flash_simt", "KERNEL": "flash_simt", "LESSON": "by-hand", "N": "64", "NAME": "name", "NAME=VALUE": "name=1",
    "PIECE": "l_in_bf16", "SHELL": "bash", "STRING": "attn1",
}
# What a mention in a sentence may leave out: it names an option, not a whole command. Not what a block may.
LEFT_OUT = {
    "bench": ["--values 64"], "inspect": ["flash_simt"], "lesson": ["list"], "profile": ["flash_simt"],
    "report": ["file.attn", "-o folder"], "shot": ["-o file.png"], "tune": ["cpu_flash"],
    "run": ["--kernel cpu_flash", "--q q.npy", "--k k.npy", "--v v.npy", "--out o.npy"],
}


def completed(words):
    """A mention's words with what it left out of that command."""
    return words + [word for part in LEFT_OUT.get(words[0], []) if part.split()[0] not in words
                    for word in part.split()]


@dataclasses.dataclass
class Block:
    """A fenced block. `words`: what stands after the ```, such as ["sh", "gpu"]."""

    page: pathlib.Path
    line: int
    words: list
    text: str

    def commands(self):
        """Line number and command of each line that has one; one that ends in a backslash goes on."""
        lines = self.text.splitlines()
        at = 0
        while at < len(lines):
            first, command = at, lines[at].strip()
            while command.endswith("\\") and at + 1 < len(lines):
                at += 1
                command = command[:-1] + lines[at].strip()
            at += 1
            if command and not command.startswith("#"):
                yield self.line + 1 + first, command


@dataclasses.dataclass
class Mention:
    """A command line that a page has. `whole`: as it is to be typed, with nothing left out."""

    page: pathlib.Path
    line: int
    text: str
    whole: bool

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.text}"


def blocks(page):
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found.group(2).split(), found.group(3))


def mentions(page):
    """Every `attnscope …` of a page: in blocks of whatever kind, and in inline code, which may go over a line's end."""
    for block in blocks(page):
        for line, command in block.commands():
            if re.match(r"attnscope(\s|$)", command):
                yield Mention(page, line, command, True)
    text = page.read_text(encoding="utf-8")
    text = FENCE.sub(lambda found: "\n" * found.group(0).count("\n"), text)
    for found in re.finditer(r"`(attnscope(?:\s[^`]*)?)`", text):
        yield Mention(page, text.count("\n", 0, found.start()) + 1, " ".join(found.group(1).split()), False)


def arguments(mention):
    """What the program gets: without what is the shell's, placeholders replaced. ValueError names an unknown one."""
    lexer = shlex.shlex(re.sub(r"…|\.\.\.(?!\w)", " ", mention.text), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = []
    for word in list(lexer)[1:]:
        if re.fullmatch(r"[|&;<>]+", word):
            break
        # [--option VALUE]: it may be left out; taken along here.
        word = word.strip("[]") if not re.search(r"\w\[", word) else word
        if word in PLACEHOLDERS:
            word = PLACEHOLDERS[word]
        elif re.fullmatch(r"[A-Z]{2,}(\.\w+)?", word):
            raise ValueError(f"the placeholder {word} is not in the table of {pathlib.Path(__file__).name}")
        if word:
            words.append(word)
    return words
