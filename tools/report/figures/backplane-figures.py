#!/usr/bin/env python3
"""Draws Vega-Lite specifications. backplane-report starts it once for all figures of a report.

  backplane-figures.py FOLDER NAME...    FOLDER/figures/NAME.vl.json to FOLDER/figures/NAME.svg and FOLDER/NAME.png
  backplane-figures.py --javascript      only the script for pages
  backplane-figures.py --version         the version of vl-convert

Prints a JSON line per figure on standard output: {"figure": NAME, "why_not": SENTENCE or ""}; "javascript" is the
file with Vega's script for pages, "why_none" the reason why drawing is impossible.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

SCALE = 2               # pixels of a PNG for each of the specification's
LEAST_BYTES = 400       # a figure of less is a blank one
FONTS = "/usr/share/fonts/truetype/dejavu"


def say(**line):
    print(json.dumps(line), flush=True)


def replace(file, content):
    """A reader sees the whole file or the one before it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix="." + file.name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    os.chmod(name, 0o644)
    os.replace(name, file)


class Complaints:
    """Captures standard error, the only place where vl-convert reports mistakes in a specification."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile()
        self.before = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *error):
        os.dup2(self.before, 2)

    def take(self):
        self.file.seek(0)
        text = self.file.read().decode(errors="replace")
        self.file.seek(0)
        self.file.truncate()
        return " ".join(text.split())[:400]


def draw(vl_convert, folder, name):
    specification = (folder / "figures" / (name + ".vl.json")).read_text()
    svg = vl_convert.vegalite_to_svg(specification, show_warnings=True, allowed_base_urls=[])
    svg = re.sub(r'<path [^>]*\bopacity="0"[^>]*></path>', "", svg)  # where only a pointer finds something
    png = vl_convert.svg_to_png(svg, scale=SCALE)
    if len(svg) < LEAST_BYTES or len(png) < LEAST_BYTES:
        return "the picture is empty"
    replace(folder / "figures" / (name + ".svg"), svg.encode())
    replace(folder / (name + ".png"), png)
    return ""


def javascript(vl_convert):
    """Bundled once for a version and kept in the virtual environment: it takes a second."""
    kept = pathlib.Path(sys.prefix) / "share" / "backplane" / f"vega-{vl_convert.__version__}.js"
    if kept.exists():
        return kept
    bundle = vl_convert.javascript_bundle().encode()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace(kept, bundle)
        return kept
    except OSError:
        handle, name = tempfile.mkstemp(suffix=".js")
        with os.fdopen(handle, "wb") as stream:
            stream.write(bundle)
        return pathlib.Path(name)


def main(arguments):
    try:
        import vl_convert
    except ImportError as error:
        say(why_none=f"{error} in {sys.executable}")
        return
    if arguments == ["--version"]:
        print(f"vl-convert {vl_convert.__version__} in {sys.executable}")
        return
    if os.path.isdir(FONTS):
        vl_convert.register_font_directory(FONTS)
    with Complaints() as complaints:
        for name in arguments[1:]:
            try:
                why_not = draw(vl_convert, pathlib.Path(arguments[0]), name)
            except Exception as error:
                why_not = " ".join(str(error).split())[:400]
            say(figure=name, why_not=complaints.take() or why_not)
    say(javascript=str(javascript(vl_convert)))


if __name__ == "__main__":
    main(sys.argv[1:])
