"""A finger has no keys and no mouse (docs/web.md): each text of the window that names one has a form for touch, or is
left out there."""

import pathlib
import re

from program import Report

report = Report()
ROOT = pathlib.Path(__file__).resolve().parents[2]

NAMES = re.compile(r"\b[Cc]lick(s|ed|ing)?\b|\bdouble[- ]click|\b[Hh]over\b|\b[Mm]ouse\b|\bwheel\b|\bCtrl\b|\bShift\b"
                   r"|\bEsc\b|\bEnter\b|\bTab\b(?!-)|\bF\d{1,2}\b|\bpress [A-Z]\b|\barrow keys\b")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
MARKED = re.compile(r"\b(tr|phrase|marked|plural)\s*\(\s*$")
CHOSEN = ("for_hands(", "by_touch()", "with_key(")

# Shown to a keyboard alone, or to nobody's hands.
EXEMPT = {
    "app/shell/keys_sheet.cpp": "by touch the sheet shows gestures",
    "app/shell/keys/shortcuts.cpp": "names of shortcuts, for that sheet",
    "app/shell/palette/palette.cpp": "opened by Ctrl+P",
    "app/shell/palette/palette_reasons.cpp": "opened by Ctrl+P",
    "app/shell/widgets/path_field.cpp": "files of a desktop",
    "viz/learn/beat.cpp": "errors of a lesson's file",
    "viz/learn/card/question_map_draw.cpp": "drawn for a keyboard alone",
    "viz/step/timeline/transport_draw.cpp": "drawn for a keyboard alone",
    "viz/learn/lesson/ask_parse.cpp": "errors of a lesson's file",
}


def statement(text: str, at: int) -> str:
    """What stands before `at` back to the last end of a statement or begin of a block."""
    begin = max(text.rfind(mark, 0, at) for mark in (";\n", "{\n", "}\n"))
    return text[begin + 1:at]


def without_touch(text: str) -> list[str]:
    found = []
    for literal in LITERAL.finditer(text):
        if not NAMES.search(literal.group()):
            continue
        before = statement(text, literal.start())
        called = re.sub(r'("(?:[^"\\\n]|\\.)*"\s*)+$', "", before)
        if MARKED.search(called) and not any(words in before for words in CHOSEN):
            found.append(literal.group())
    return found


report.check(without_touch('void f() {\n  tooltip(tr("Press Esc to leave"));\n}\n') == ['"Press Esc to leave"'],
             "a key without a form for touch is found")
report.check(without_touch('void f() {\n  tooltip(for_hands(tr("Click it"), tr("Tap it")));\n}\n') == [],
             "one with a form is not")
seen = 0
for folder in ("viz", "app/shell"):
    for file in sorted((ROOT / folder).rglob("*.cpp")):
        name = file.relative_to(ROOT).as_posix()
        text = file.read_text()
        seen += len(LITERAL.findall(text))
        if name not in EXEMPT:
            for words in without_touch(text):
                report.check(False, f"{name}: {words} needs a form for touch")
report.check(seen > 2000, f"there are texts: {seen}")
report.exit(3)
