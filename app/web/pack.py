#!/usr/bin/env python3
"""What the linker made, as files for a server and as one that opens by itself: python3 pack.py SOURCES FOLDER MOST

Writes FOLDER/site (index.html, page.js, attnscope.js, page.wasm, page.data) and FOLDER/attnscope.html. Prints
their sizes, and fails where the page, compressed, has more than MOST bytes.
"""
import gzip
import pathlib
import re
import shutil
import sys


def compressed(path):
    return len(gzip.compress(path.read_bytes(), 9))


# Of a script's text every printable character stands for itself but these, which end a string or the script.
DIGITS = [chr(c) for c in range(0x21, 0x7f) if chr(c) not in '"<\\']


def written(data):
    """Bytes as text, 13 bits as two characters (one_file.js reads it): 1.23 bytes for one, where base64 has 1.33."""
    pairs = [DIGITS[n // len(DIGITS)] + DIGITS[n % len(DIGITS)] for n in range(1 << 13)]
    text = []
    for at in range(0, len(data), 13):
        chunk = data[at:at + 13]
        bits = int.from_bytes(chunk, "little")
        for _ in range(-(-len(chunk) * 8 // 13)):
            text.append(pairs[bits & 0x1fff])
            bits >>= 13
    return "".join(text)


def main():
    sources, folder, most = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    built, site = folder / "build", folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    project = (sources / "../../CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(AttnScope VERSION ([0-9.]+)", project).group(1)
    html = (sources / "page.html").read_text(encoding="utf-8").replace("@version@", version)
    script = (sources / "page.js").read_text(encoding="utf-8")
    glue = (built / "page.js").read_text(encoding="utf-8")
    for name in ("wasm", "data"):
        shutil.copy(built / f"page.{name}", site / f"page.{name}")
    (site / "attnscope.js").write_text(glue, encoding="utf-8")
    (site / "page.js").write_text(script, encoding="utf-8")
    linked = '<script src="attnscope.js"></script>\n<script src="page.js"></script>'
    (site / "index.html").write_text(html.replace("<!-- scripts -->", linked), encoding="utf-8")

    # One file: the module and its data as text, for file:// lets a page fetch nothing.
    inline = (sources / "one_file.js").read_text(encoding="utf-8")
    parts = {}
    for name in ("wasm", "data"):
        packed = gzip.compress((built / f"page.{name}").read_bytes(), 9, mtime=0)
        parts |= {f"@{name}@": written(packed), f"@{name}_bytes@": str(len(packed))}
    inline = re.sub("@[a-z_]+@", lambda part: parts[part[0]], inline)
    closed = [text.replace("</script", "<\\/script") for text in (inline, glue, script)]
    scripts = "\n".join(f"<script>\n{text}\n</script>" for text in closed)
    one = folder / "attnscope.html"
    one.write_text(html.replace("<!-- scripts -->", scripts), encoding="utf-8")

    total = 0
    for path in sorted(site.iterdir()):
        size = compressed(path)
        total += size
        print(f"    {path.name}: {path.stat().st_size / 1e6:.2f} MB, compressed {size / 1e6:.2f} MB")
    print(f"    the page of version {version}: compressed {total / 1e6:.2f} MB; "
          f"attnscope.html: {one.stat().st_size / 1e6:.2f} MB")
    if total > most or one.stat().st_size > most:
        sys.exit(f"The page has more than {most / 1e6:.0f} MB.")


main()
