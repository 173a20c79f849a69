"""What README.md, CONTRIBUTING.md and docs/ say is so: every column and key that the program writes is described, every
one that is described is written, every path and variable that they name exists, and the program takes every command
line that they name.

    python3 tests/cli/test_documents.py --write

brings the table of metrics in docs/formats.md up to date with the program that ATTNSCOPE_BINARY names.
"""

import csv
import io
import json
import pathlib
import re
import sys
import tempfile

from pages import PARSED as PAGES, ROOT, Mention, arguments, completed, mentions
from program import Report, run

FORMATS = ROOT / "docs" / "formats.md"
PEERS = ROOT / "docs" / "peers.md"
ROOMS = ("kernels", "profiling", "viz", "app", "assets", "tests", "docs")
METRICS_BEGIN = "<!-- metrics: written by `python3 tests/cli/test_documents.py --write` -->\n"
METRICS_END = "<!-- end of metrics -->"

report = Report()


def sections(page):
    """Heading to the text under it, up to the next heading of any depth."""
    found = {}
    for part in re.split(r"^#+ ", "\n" + page.read_text(encoding="utf-8"), flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        found[heading.strip()] = body
    return found


def table_rows(body):
    """Cells of the tables' rows, those that begin with a name in backticks."""
    for line in body.splitlines():
        if re.match(r"\| `[^`]+` \|", line):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def keys(body):
    return [row[0].strip("`") for row in table_rows(body)]


def output(*arguments):
    done = run(*arguments)
    report.check(done.returncode == 0, f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def same(what, described, written, page="docs/formats.md"):
    """Both ways, and nothing twice."""
    report.check(len(described) == len(set(described)), f"{what}: described twice: {sorted(described)}")
    for name in sorted(set(written) - set(described)):
        report.check(False, f"{what}: the program writes {name}, and {page} does not describe it")
    for name in sorted(set(described) - set(written)):
        report.check(False, f"{what}: {page} describes {name}, and the program does not write it")
    report.check(len(written) > 0, f"{what}: nothing was written")


# ---- metrics and CSV


def metrics():
    return json.loads(output("list", "--metrics", "--json"))


def metric_lines(rows):
    yield "| metric | unit | what it is | formula |\n"
    yield "|---|---|---|---|\n"
    for row in rows:
        unit = "" if row["unit"] == "1" else row["unit"]
        formula = row.get("formula", "").replace("|", "\\|")
        yield f"| `{row['id']}` | {unit} | {row['what']} | {formula} |\n"


def write_metrics():
    page = FORMATS.read_text(encoding="utf-8")
    before, rest = page.split(METRICS_BEGIN)
    FORMATS.write_text(before + METRICS_BEGIN + "".join(metric_lines(metrics())) + METRICS_END +
                       rest.split(METRICS_END)[1], encoding="utf-8")


def metric_table_is_true(parts):
    """A row of the page is what the program says of that metric. A metric that is newer than the page is found by
    `list --metrics`, so that adding one stays a matter of one file."""
    said = set(metric_lines(metrics()))
    body = parts["Columns: metrics"].split(METRICS_BEGIN)[1].split(METRICS_END)[0]
    lines = body.splitlines(keepends=True)
    report.check(len(lines) > 30, f"only {len(lines)} lines of metrics")
    for line in lines:
        report.check(line in said, f"the program says otherwise (mend: --write): {line.strip()}")
    for line in sorted(said - set(lines)):
        print(f"newer than the page (python3 tests/cli/test_documents.py --write): {line.strip()}")


def csv_columns(parts, table):
    fixed = keys(parts["Columns: what was measured"]) + keys(parts["Columns: how sure, and where"])
    fixed += keys(sections(PEERS)["Columns: peers"])
    of_metrics = [name for row in metrics() for name in (row["id"], row["id"] + "_source")]
    same("CSV", fixed + of_metrics, next(csv.reader(io.StringIO(table))))


# ---- JSON


def objects(j, path):
    """The objects at a path such as measurements/*/time; what is missing or null on the way gives none."""
    if not path:
        return [j] if isinstance(j, dict) else []
    head, _, rest = path.partition("/")
    if head == "*":
        inner = j if isinstance(j, list) else list(j.values()) if isinstance(j, dict) else []
        return [o for item in inner for o in objects(item, rest)]
    return objects(j[head], rest) if isinstance(j, dict) and head in j else []


# The text of all rooms, in which every key stands as a literal.
SOURCES = "".join(path.read_text(encoding="utf-8") for room in ("kernels", "profiling", "app")
                  for path in (ROOT / room).rglob("*.cpp"))


# A key that the page says may be missing needs not be in the objects at hand, but in the program.
def json_keys(parts, heading, found):
    written = {key for o in found for key in o}
    for name, words in ((row[0].strip("`"), row[1]) for row in table_rows(parts[heading])):
        if "missing" in words and f'"{name}"' in SOURCES:
            written.add(name)
    same(heading, keys(parts[heading]), written)


def measurements_json(parts, j):
    row = "measurements/*/"
    for heading, path in {
            "Measurements: `bench --json`": "", "Provenance": "provenance", "Measurement": "measurements/*",
            "Options": row + "options", "Problem": row + "problem", "Mask": row + "problem/mask", "Time": row + "time",
            "Figure": row + "figures/*", "Verdict": row + "verdict", "Launch": row + "launches/*",
            "Yardsticks": row + "yardsticks", "Stage": row + "stages/*"}.items():
        json_keys(parts, heading, objects(j, path))
    for m in j["measurements"]:
        report.check(set(m["figures"]) == {row["id"] for row in metrics()}, "figures are not the metrics")


def steps_json(parts):
    phases, tensors = set(), set()
    for kernel in ("cpu_sequential", "cpu_tiled", "cpu_flash1", "cpu_flash"):
        j = json.loads(output("step", "--preset", "causal", "--kernel", kernel, "--json"))
        json_keys(parts, "Steps: `step --json`", [j])
        json_keys(parts, "Step", j["steps"])
        json_keys(parts, "Tile", objects(j, "steps/*/made/*"))
        for part in ("tile_load_bytes", "compulsory_bytes", "on_chip_bytes"):
            json_keys(parts, "Bytes by tensor", [j[part]])
        json_keys(parts, "Bytes by tensor", objects(j, "steps/*/hbm_bytes_so_far"))
        report.check(set(j["out"]) == set(j["lse"]) == {"shape", "values"}, f"out has {set(j['out'])}")
        for holds in objects(j, "steps/*/made/*/holds"):
            for key in holds:
                report.check(f"`{key}`" in parts["Tile"], f"holds: {key} is not described")
        phases |= {step["phase"] for step in j["steps"]}
        tensors |= {tile["tensor"] for step in j["steps"] for tile in step["made"]}
    words = parts["Tile"].split("The phases are")[1]
    for name in phases | tensors:
        report.check(f"`{name}`" in words, f"{name} is not described")
    report.check(len(phases) > 12, f"only the phases {phases}")


# docs/peers.md: the peers that there are, and what a row of one has more than docs/formats.md says of every row.
def peers_page(parts):
    here = sections(PEERS)
    listed = json.loads(output("list", "--peers", "--json"))
    same("peers", keys(here["Peers"]), [row["id"] for row in listed["peers"]], PEERS.name)
    for row in table_rows(here["Peers"]):
        told = next(p for p in listed["peers"] if f"`{p['id']}`" == row[0])
        report.check((told["title"], told["place"]) == (row[1], row[2].lower()), f"docs/peers.md: {row}, {told}")
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder) / "own.py"
        own.write_text("import numpy as np\n\ndef attention(q, k, v, scale, causal):\n"
                       "    s = np.float32(scale) * (q @ k.swapaxes(-1, -2))\n    p = np.exp(s)\n"
                       "    return (p / p.sum(-1, keepdims=True)) @ v\n", encoding="utf-8")
        j = json.loads(output("bench", "--kernels", "cpu_flash", "--values", "16", "--d", "8", "--time-limit", "0.02",
                              "--peer", own, "--peers-python", sys.executable, "--json", "-"))
    for m in objects(j, "measurements/*"):
        extra = set(m) - set(keys(parts["Measurement"]))
        report.check(extra == ({"peer"} if m["kernel"] == "own.py" else set()), f"{m['kernel']}: {extra}")
    json_keys(here, "Peer", objects(j, "measurements/*/peer"))
    json_keys(here, "Beside", objects(j, "measurements/*/peer/beside/*"))
    report.check(any(v.get("no_lse") for v in objects(j, "measurements/*/verdict")), "a peer with an LSE")
    report.check(keys(here["JSON of a peer"]) == ["peer", "no_lse"], "what a peer's rows have more")


def list_json(parts):
    rows = json.loads(output("list", "--json"))
    json_keys(parts, "The ladder: `list --json`", rows)
    for key in {key for row in rows for option in row.get("options", []) for key in option}:
        report.check(f"`{key}`" in parts["The ladder: `list --json`"], f"options: {key} is not described")
    json_keys(parts, "The metrics: `list --metrics --json`", metrics())


def inspect_json(parts):
    done = run("inspect", "naive,flash_simt", "--arch", "sm_90a", "--json")
    if done.returncode == 3:
        print("left out: inspect, as there is no NVRTC here")
        return
    json_keys(parts, "What the compiler says: `inspect --json`", json.loads(done.stdout))


# docs/profile.md: phases, kinds, JSON keys and CSV columns are those that the program writes.
def profile_page():
    page = ROOT / "docs" / "profile.md"
    parts = sections(page)
    with tempfile.TemporaryDirectory() as folder:
        done = run("profile", "flash_simt", "--json", "-", "--csv", pathlib.Path(folder) / "lines.csv")
        report.check(done.returncode == 0, f"profile: exit {done.returncode}: {done.stderr}")
        j = json.loads(done.stdout)
        table = (pathlib.Path(folder) / "lines.csv").read_text(encoding="utf-8")
    name = page.name
    same("profile --json", keys(parts["JSON: `profile --json`"]), list(j), name)
    columns = next(csv.reader(io.StringIO(table)))
    same("profile --csv", keys(parts["CSV: `profile --csv`"]), columns, name)
    same("kinds", keys(parts["Instructions"]), columns[columns.index("instructions") + 1:columns.index("text")], name)
    for key in {key for part in ("entries", "lines", "phases") for o in j[part] for key in o} | set(j["measured"]):
        report.check(f"`{key}`" in parts["JSON: `profile --json`"] + parts["Instructions"], f"{name}: no {key}")
    phases = keys(parts["Phases in a source"])
    for tag in {tag for path in (ROOT / "kernels" / "gpu" / "rungs").rglob("*.cu*")
                for tag in re.findall(r"// @phase (\w+)", path.read_text(encoding="utf-8"))} - {"caller"}:
        report.check(tag in phases, f"{name} does not describe the phase {tag}")
    if j["machine_code_not_available"]:
        print(f"left out: lines and phases of machine code: {j['machine_code_not_available']}")
        return
    named = {row["phase"] for row in j["phases"]}
    report.check(named <= {*phases, "untagged"} and {"S", "O", "P", "m"} <= named, f"phases {named}")


# A causal row, a masked one, one with a bias; one kernel of several launches and one that is refused.
def rows_of_every_kind(folder):
    table, session = pathlib.Path(folder) / "rows.csv", pathlib.Path(folder) / "rows.json"
    output("bench", "--kernels", "cpu_multicore,cpu_flash,naive", "--values", "16,32", "--d", "8", "--time-limit",
           "0.02", "--key-lengths", "9", "--bias-shape", "1,1,1,1", "--scale", "0.5", "--csv", table, "--json", session)
    return table.read_text(encoding="utf-8"), json.loads(session.read_text(encoding="utf-8"))


# The heads of Bench's table, as a report has them: with the unit that suits the numbers, or the baseline's name.
def heads_of_bench(folder):
    output("report", ROOT / "assets" / "sessions" / "h100.attn", "-o", folder)
    summary = (pathlib.Path(folder) / "summary.md").read_text(encoding="utf-8")
    heads = [head.strip() for head in re.search(r"^\| (kernel \|.*)\|$", summary, re.M).group(1).split("|")]
    page = sections(ROOT / "docs" / "glossary.md")["Columns of Bench's table"]
    for head in heads:
        axis = head == "L"
        report.check(axis or any(head == key or head.startswith(f"{key} ") for key in keys(page)),
                     f"docs/glossary.md does not say what Bench's '{head}' is")
    for key in keys(page):
        report.check(any(head == key or head.startswith(f"{key} ") for head in heads), f"Bench's table has no '{key}'")
    ids = {row["id"] for row in metrics()}
    for row in table_rows(page):
        for name in re.findall(r"`([^`]+)`", row[2] if len(row) > 2 else ""):
            report.check(name in ids, f"docs/glossary.md names the metric {name}, which there is not")


# ---- commands, paths, variables


def subcommands():
    text = output("--help")
    listed = re.findall(r"^  (\w+)  ", text.split("Subcommands:")[1].split("Exit codes")[0], re.M)
    report.check(len(listed) >= 10, f"subcommands {listed}")
    glossary = sections(ROOT / "docs" / "glossary.md")
    same("Commands", keys(glossary["Commands"]), listed, "docs/glossary.md")
    every = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in set(re.findall(r"attnscope ([a-z]+)\b(?!\.)", every)):
        report.check(name in listed, f"`attnscope {name}` is no command")


def parsed(mention):
    """Why the program does not take the command line; empty where it does."""
    try:
        words = arguments(mention)
    except ValueError as error:
        return str(error)
    done = run("--parse-only", *words)
    if done.returncode != 0 and not mention.whole and "is required" in done.stderr:
        if len(words) == 1:  # the name of a command, which `subcommands` has checked
            return ""
        done = run("--parse-only", *completed(words))
    return "" if done.returncode == 0 else done.stderr.strip().replace("\n", " ")


def command_lines():
    """Every `attnscope …` of every page is one that the program takes."""
    found = [mention for page in PAGES for mention in mentions(page)]
    for mention in found:
        why = parsed(mention)
        report.check(not why, f"{mention}: {why}")
    print(f"{len(found)} command lines parsed, {sum(mention.whole for mention in found)} of them in blocks")
    report.check(len(found) > 80, f"only {len(found)} command lines were found")
    for wrong in ("attnscope bench --values 64 --no-such-option", "attnscope bench --values 64 --tokens many",
                  "attnscope bench", "attnscope list THING"):
        report.check(parsed(Mention(PAGES[0], 0, wrong, True)), f"{wrong} was taken")


# NAME, ID, ROOM and the like stand for any name; {h,cpp} for each.
def expanded(path):
    match = re.search(r"\{([^}]*)\}", path)
    if match:
        for word in match.group(1).split(","):
            yield from expanded(path[:match.start()] + word + path[match.end():])
    else:
        yield re.sub(r"[A-Z]{2,}[0-9]*(?![a-zA-Z.]*\.md)", "*", path)


def exists(path):
    return any(True for _ in ROOT.glob(path.rstrip("/")))


def paths():
    named = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if "://" not in link:
                report.check((page.parent / link).exists(), f"{page.name} links to {link}, which is not there")
                named += 1
        for code in re.findall(r"`([^`\n]+)`", text) + re.findall(r"^ *(\w+/) ", text, re.M):
            for word in code.split():
                if not word.startswith(tuple(f"{room}/" for room in ROOMS)):
                    continue
                for path in expanded(word.rstrip(".,:;")):
                    report.check(exists(path), f"{page.name} names {path}, which is not there")
                    named += 1
    report.check(named > 100, f"only {named} paths were found")


# The folders of docs/architecture.md in the order that tests/rules.sh holds.
def order_of_rooms():
    rules = (ROOT / "tests" / "rules.sh").read_text(encoding="utf-8")
    pages = sections(ROOT / "docs" / "architecture.md")
    for room in ("kernels", "profiling", "viz", "app"):
        held = re.search(rf"^ *{room}\)\s+printf ['\"]([^'\"]+)['\"]", rules.replace("\\\n", ""), re.M)
        report.check(held is not None, f"tests/rules.sh has no order of {room}")
        folders = [key.removeprefix(f"{room}/") for key in keys(pages[room])]
        wanted = [name for name in held.group(1).split() if name != "."] if held else []
        report.check([f for f in folders if "." not in f] == wanted,
                     f"docs/architecture.md has {folders}, tests/rules.sh holds {wanted}")


def variables():
    code = "".join(path.read_text(encoding="utf-8", errors="replace") for room in ("app", "kernels", "tests")
                   for path in (ROOT / room).rglob("*") if path.suffix in (".cpp", ".sh", ".txt", ".cmake", ".py"))
    code += (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    for page in PAGES:
        for name in set(re.findall(r"\bATTNSCOPE_[A-Z_]+", page.read_text(encoding="utf-8"))):
            report.check(re.search(name + r"(?![A-Z_])", code), f"{page.name} names {name}, which nothing reads")


def main():
    if sys.argv[1:] == ["--write"]:
        write_metrics()
        return
    parts = sections(FORMATS)
    with tempfile.TemporaryDirectory() as folder:
        table, session = rows_of_every_kind(folder)
        heads_of_bench(folder)
    metric_table_is_true(parts)
    csv_columns(parts, table)
    measurements_json(parts, session)
    steps_json(parts)
    list_json(parts)
    peers_page(parts)
    inspect_json(parts)
    profile_page()
    subcommands()
    command_lines()
    paths()
    order_of_rooms()
    variables()
    sys.stdout.flush()
    report.exit(least=300)


if __name__ == "__main__":
    main()
