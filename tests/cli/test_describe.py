"""Manual page and completion hold every command and option that --help shows, and shells read them; what
`cmake --install` puts in place starts from there, with its menu entry, icons, licences and nothing of the build."""

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from program import BINARY, Report, run

report = Report()


def options_of(help_text):
    """The options at the start of the lines of --help, long and short."""
    found = set()
    for line in help_text.splitlines():
        head = re.match(r"^  (-\S+(?:, ?-\S+)*)", line) or re.match(r"^  (-\S+)", line)
        if head:
            found.update(word.strip() for word in head.group(1).split(","))
    return found


def commands_of(help_text):
    part = help_text.split("Subcommands:", 1)[1].split("Exit codes", 1)[0]
    return re.findall(r"^  (\w[\w-]*) ", part, re.M)


def everything():
    """{command: options}; "" is the program itself."""
    whole = run("--help").stdout
    return {"": options_of(whole)} | {name: options_of(run(name, "--help").stdout) for name in commands_of(whole)}


def descriptions(table):
    """Each option says what it does, beside it or, behind a long one, in the next line."""
    for name in table:
        lines = run(*([name] if name else []), "--help").stdout.splitlines()
        for n, line in enumerate(lines):
            if not re.match(r"^  -", line):
                continue
            beside = re.search(r"\S {2,}\S", line)
            below = n + 1 < len(lines) and re.match(r"^ {12,}\S", lines[n + 1])
            report.check(beside or below, f"{name} --help: {line.strip()} has no description")


def manual(table, folder):
    page = run("--man").stdout
    plain = re.sub(r"\\f[BIR]", "", page.replace("\\-", "-"))
    for name, options in table.items():
        part = plain.split("\n.SH COMMANDS")[0]
        if name:
            part = plain.split(f".SS attnscope {name}\n", 1)[1].split("\n.S", 1)[0]
        for option in options:
            report.check(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", part), f"man: {name} lacks {option}")
    if shutil.which("groff"):
        (folder / "page.1").write_text(page, encoding="utf-8")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-Kutf8", folder / "page.1"], capture_output=True,
                              text=True, check=False)
        report.check(done.returncode == 0 and not done.stderr, f"groff: {done.stderr[:300]}")
        report.check("--preset" in re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout), "groff prints no --preset")


def completed(script, *words):
    """What bash offers after these words."""
    lines = [f"source {script}", "COMP_WORDS=(" + " ".join(f"'{word}'" for word in words) + ")",
             f"COMP_CWORD={len(words) - 1}", "_attnscope", 'printf "%s\\n" "${COMPREPLY[@]}"']
    done = subprocess.run(["bash", "-euc", "\n".join(lines)], capture_output=True, text=True, check=False)
    report.check(done.returncode == 0 and not done.stderr, f"bash on {words}: {done.stderr[:300]}")
    return set(done.stdout.split())


def completion(table, folder):
    script = folder / "attnscope.bash"
    script.write_text(run("--completion", "bash").stdout, encoding="utf-8")
    for name, options in table.items():
        offered = completed(script, "attnscope", *([name] if name else []), "-")
        for option in options:
            report.check(option in offered, f"bash: {name} lacks {option}")
    report.check(completed(script, "attnscope", "ste") == {"step"}, "bash does not complete ste to step")
    report.check("blackboard" in completed(script, "attnscope", "step", "--preset", "bl"), "bash knows no preset")
    report.check("cpu_flash" in completed(script, "attnscope", "run", "--kernel", "cpu_fl"), "bash knows no kernel")
    zsh, fish = run("--completion", "zsh").stdout, run("--completion", "fish").stdout
    for name, options in table.items():
        part = next((line for line in zsh.splitlines() if line.strip().startswith(f"{name}) ")), "") if name else zsh
        lines = [line for line in fish.splitlines()
                 if ("__fish_seen_subcommand_from " + name + "'" in line if name else "__fish_use_subcommand" in line)]
        for option in options:
            report.check(f"'{option}[" in part, f"zsh: {name} lacks {option}")
            word = f" -l {option[2:]} " if option.startswith("--") else f" -s {option[1:]} "
            report.check(any(word in line + " " for line in lines), f"fish: {name} lacks {option}")
    for shell, text in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            (folder / shell).write_text(text, encoding="utf-8")
            done = subprocess.run([shell, "-n", folder / shell], capture_output=True, text=True, check=False)
            report.check(done.returncode == 0, f"{shell} -n: {done.stderr[:300]}")
    report.check(run("--completion", "tcsh").returncode == 2, "--completion tcsh is accepted")


def installation(folder):
    build = pathlib.Path(BINARY).resolve().parents[1]
    if not (build / "cmake_install.cmake").exists():
        return
    prefix = folder / "prefix"
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True,
                          check=False)
    report.check(done.returncode == 0, f"cmake --install: {done.stderr[-400:]}")
    for file in ("bin/attnscope", "share/man/man1/attnscope.1.gz", "share/bash-completion/completions/attnscope",
                 "share/zsh/vendor-completions/_attnscope", "share/fish/vendor_completions.d/attnscope.fish",
                 "share/mime/packages/attnscope.xml", "share/icons/hicolor/scalable/apps/attnscope.svg",
                 "share/icons/hicolor/48x48/apps/attnscope.png", "share/doc/attnscope/copyright",
                 "share/attnscope/licenses/THIRD_PARTY", "share/attnscope/setup/fetch_cuda.sh",
                 "share/attnscope/setup/run_module.py", "share/attnscope/peers/versions.py"):
        report.check((prefix / file).is_file() and (prefix / file).stat().st_size > 0, f"{file} is not installed")
    allowed = {"bin/attnscope", "share/man", "share/bash-completion", "share/zsh", "share/fish", "share/mime",
               "share/icons", "share/doc", "share/attnscope", "share/applications"}
    for file in prefix.rglob("*"):
        own = file.relative_to(prefix).as_posix()
        report.check(file.is_dir() or any(own == a or own.startswith(a + "/") for a in allowed), f"{own} is installed")
        report.check(not file.is_symlink() or file.resolve().is_relative_to(prefix), f"{own} leads out of the prefix")
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(prefix / "share/applications/attnscope.desktop", encoding="utf-8")
    entry = entry["Desktop Entry"]
    report.check((prefix / "bin" / entry["Exec"].split()[0]).is_file(), "the menu entry starts nothing")
    report.check(entry["Icon"] == "attnscope" and entry["Type"] == "Application", "the menu entry has no icon")
    if shutil.which("desktop-file-validate"):
        done = subprocess.run(["desktop-file-validate", prefix / "share/applications/attnscope.desktop"],
                              capture_output=True, text=True, check=False)
        report.check(done.returncode == 0, done.stdout)
    env = {k: v for k, v in os.environ.items() if k != "ATTNSCOPE_ASSETS"}
    done = subprocess.run([prefix / "bin/attnscope", "doctor"], capture_output=True, text=True, check=False, env=env,
                          timeout=120)
    report.check(done.returncode == 0 and f"{prefix}/share/attnscope" in done.stdout, f"doctor: {done.stdout[-600:]}")
    report.check("app/setup" not in done.stdout and "app/run.sh" not in done.stdout,
                 "the installed doctor names what is not installed")
    report.check("XDG_RUNTIME_DIR" not in done.stderr, f"doctor: {done.stderr}")


with tempfile.TemporaryDirectory() as made:
    all_of_it = everything()
    report.check(len(all_of_it) >= 10 and all(all_of_it.values()), f"--help names {sorted(all_of_it)}")
    descriptions(all_of_it)
    manual(all_of_it, pathlib.Path(made))
    completion(all_of_it, pathlib.Path(made))
    installation(pathlib.Path(made))
report.exit(least=200)
