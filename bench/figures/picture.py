"""docs/images/performance.svg: the ratios of the page on a logarithmic axis."""
import math
from xml.sax.saxutils import escape

from .page import number

LEFT, WIDTH, RIGHT, TOP, ROW, BOTTOM = 590, 420, 110, 54, 21, 52
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
BLUE, GREY, RED = "#1f77b4", "#7f7f7f", "#d62728"


class Axis:
    def __init__(self, rows):
        values = [value for row in rows for value in (row["min"], row["max"])]
        self.low = max(tick for tick in TICKS if tick <= min(0.9, *values) or tick == TICKS[0])
        self.high = min((tick for tick in TICKS if tick >= max(2, *values)), default=TICKS[-1])

    def x(self, value):
        value = min(max(value, self.low), self.high)
        return LEFT + WIDTH * math.log(value / self.low) / math.log(self.high / self.low)


def text(x, y, words, anchor="start", size=12, colour="#000", weight=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour, width=1.0, dash=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{dash}/>'


def grid(axis, bottom):
    for tick in TICKS:
        if axis.low <= tick <= axis.high:
            x = axis.x(tick)
            yield line(x, TOP - 6, x, bottom, "#000" if tick == 1 else "#dddddd", 1.2 if tick == 1 else 0.8)
            yield text(x, bottom + 16, f"{tick:g}", "middle", 11)
    yield line(LEFT, bottom, LEFT + WIDTH, bottom, "#000", 0.8)
    yield text(LEFT + WIDTH / 2, bottom + 36, "first speed / speed behind the slash (above 1: the first is faster)", "middle")


def mark(axis, y, goal, row):
    """Range, median (open if disturbed) and bar."""
    x = axis.x(row["median"])
    yield line(axis.x(row["min"]), y, axis.x(row["max"]), y, BLUE, 2)
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" stroke="{BLUE}" stroke-width="1.6" fill="{"#fff" if row["disturbed"] else BLUE}"/>'
    bar = goal.target if goal.target is not None else goal.floor
    if bar is not None:
        yield line(axis.x(bar), y - 7, axis.x(bar), y + 7, RED, 2)


def picture(measured):
    """`measured`: (goal, row) of the page's first table."""
    if not measured:
        return ""
    axis = Axis([row for _, row in measured])
    bottom = TOP + ROW * len(measured) + 4
    width, height = LEFT + WIDTH + RIGHT, bottom + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
             text(width / 2, 20, "Ratios of speeds", "middle", 15),
             text(width / 2, 38, "median and range of pairs in turn; open: disturbed by other programs; red: the target", "middle", 11, GREY),
             *grid(axis, bottom)]
    for i, (goal, row) in enumerate(measured):
        y = TOP + ROW * i + ROW / 2
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end" font-size="11">{escape(goal.what.replace("`", ""))}'
                     f'<tspan fill="{GREY}"> / {escape(goal.over.replace("`", ""))}</tspan></text>')
        parts += mark(axis, y, goal, row)
        parts.append(text(LEFT + WIDTH + 12, y + 4, number(row["median"]) + (" ~" if row["disturbed"] else ""), size=11))
    return "\n".join([*parts, "</svg>"]) + "\n"
