#!/usr/bin/env python3
"""Draws the program's icon, a causal mask's tiles under a lens: python3 assets/desktop/draw_icon.py

Writes attnscope.svg and attnscope-SIZE.png beside itself, both from the shapes below, in units of 1/64 of the side.
"""
import pathlib

from PIL import Image, ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
SIZES = (16, 24, 32, 48, 64, 128, 256)
FINER = 8  # drawn so much larger, then reduced

GROUND, EMPTY = "#14202b", "#26384a"
# Weights of the rows of a softmax: what attends to what, brightest where most of a row goes.
SHADES = {1: "#1f6f8b", 2: "#2f9fb8", 3: "#7fd1c7", 4: "#ffd166"}
TILES = ((4, 0, 0, 0), (2, 3, 0, 0), (1, 4, 2, 0), (2, 1, 2, 3))
RING, HANDLE = "#f4f7fa", "#f08a4b"


def shapes():
    """("rect", x, y, width, height, radius, colour), ("line", x, y, x, y, width, colour), ("ring", x, y, r, width, colour)."""
    yield ("rect", 0, 0, 64, 64, 12, GROUND)
    for r, row in enumerate(TILES):
        for c, shade in enumerate(row):
            yield ("rect", 7 + 12.75 * c, 7 + 12.75 * r, 11.25, 11.25, 2, SHADES.get(shade, EMPTY))
    yield ("line", 47, 47, 57, 57, 7, HANDLE)
    yield ("ring", 36, 36, 15, 4, RING)


def svg():
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">']
    for kind, *n, colour in shapes():
        if kind == "rect":
            lines.append('  <rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}"/>'.format(*n, colour))
        elif kind == "line":
            lines.append('  <line x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}" stroke="{}" '
                         'stroke-linecap="round"/>'.format(*n, colour))
        else:
            lines.append('  <circle cx="{}" cy="{}" r="{}" stroke-width="{}" stroke="{}" fill="none"/>'
                         .format(*n, colour))
    return "\n".join(lines) + "\n</svg>\n"


def png(size):
    unit = size * FINER / 64
    image = Image.new("RGBA", (size * FINER, size * FINER))
    draw = ImageDraw.Draw(image)

    def disc(x, y, r, **how):
        draw.ellipse([(x - r) * unit, (y - r) * unit, (x + r) * unit, (y + r) * unit], **how)

    for kind, *n, colour in shapes():
        n = list(n)
        if kind == "rect":
            x, y, width, height, radius = n
            draw.rounded_rectangle([x * unit, y * unit, (x + width) * unit, (y + height) * unit], radius * unit, colour)
        elif kind == "line":
            x1, y1, x2, y2, width = n
            draw.line([x1 * unit, y1 * unit, x2 * unit, y2 * unit], colour, round(width * unit))
            disc(x1, y1, width / 2, fill=colour)
            disc(x2, y2, width / 2, fill=colour)
        else:
            x, y, r, width = n
            disc(x, y, r + width / 2, outline=colour, width=round(width * unit))
    return image.resize((size, size), Image.LANCZOS)


def main():
    (HERE / "attnscope.svg").write_text(svg(), encoding="utf-8")
    for size in SIZES:
        png(size).save(HERE / f"attnscope-{size}.png", optimize=True)


if __name__ == "__main__":
    main()
