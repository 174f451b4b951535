#!/usr/bin/env python3
"""Converts SVG frames of a film to a .gif or a .webm. Started by backplane-report.

  backplane-film.py FRAMES FRAME_S HOLD_S TO

FRAMES has one frame per line, as a JSON string. Each is shown for FRAME_S seconds, the last one HOLD_S longer. vl-convert draws the
pixels, Pillow writes a GIF, ffmpeg a WebM. If one is missing, an error appears on standard error and the exit code is 1.
"""
import io
import json
import math
import os
import shutil
import subprocess
import sys

FONTS = "/usr/share/fonts/truetype/dejavu"
COLOURS = 64            # of a GIF: its films are drawings
GIF_SCALE = 0.6         # it grows with every pixel that moves
GIF_FRAME_S = 0.08      # and with every frame


def give_up(sentence):
    sys.exit(sentence)


def pictures(frames, scale, every=1):
    """Yields PNG files of each `every`-th frame and the last, one at a time, because all of them may not fit into memory."""
    try:
        import vl_convert
    except ImportError as error:
        give_up(f"no pixels: {error} in {sys.executable}; run: {sys.executable} -m pip install vl-convert-python")
    if os.path.isdir(FONTS):
        vl_convert.register_font_directory(FONTS)
    with open(frames, encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            if i % every == 0:
                yield vl_convert.svg_to_png(json.loads(line), scale=scale)
    if i % every != 0:
        yield vl_convert.svg_to_png(json.loads(line), scale=scale)


def write_gif(frames, frame_s, hold_s, to):
    try:
        from PIL import Image
    except ImportError as error:
        give_up(f"no .gif: {error} in {sys.executable}; run: {sys.executable} -m pip install pillow")
    images, palette, every = [], None, math.ceil(GIF_FRAME_S / frame_s)
    for png in pictures(frames, GIF_SCALE, every):
        image = Image.open(io.BytesIO(png)).convert("RGB")
        palette = palette or image.quantize(COLOURS)
        images.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
    # A GIF counts hundredths of a second: rounded so that the sum is right.
    ends = [round(100 * every * frame_s * (i + 1)) for i in range(len(images))]
    shown_ms = [10 * (end - begin) for begin, end in zip([0] + ends, ends)]
    shown_ms[-1] += round(1000 * hold_s)
    images[0].save(to, format="GIF", save_all=True, append_images=images[1:], duration=shown_ms, loop=0, optimize=False)


def write_webm(frames, frame_s, hold_s, to):
    ffmpeg = shutil.which("ffmpeg")
    if not ffmpeg:
        give_up("no .webm: ffmpeg is not on PATH; to install it on Debian: apt-get install ffmpeg")
    words = [ffmpeg, "-v", "error", "-y", "-f", "image2pipe", "-c:v", "png", "-framerate", f"{1 / frame_s:.6f}", "-i", "-",
             "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,tpad=stop_mode=clone:stop_duration=" + str(hold_s),
             "-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "34", "-pix_fmt", "yuv420p", "-f", "webm", to]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as film:
        try:
            for png in pictures(frames, 1):
                film.stdin.write(png)
        except BrokenPipeError:
            pass  # ffmpeg's message follows below
        said = film.communicate()[1].decode(errors="replace").strip()
    if film.returncode != 0:
        give_up(f"no .webm: {ffmpeg} ended with {film.returncode}: {said[-400:]}")


def main(frames, frame_s, hold_s, to):
    part = to + ".part"
    try:
        (write_gif if to.endswith(".gif") else write_webm)(frames, float(frame_s), float(hold_s), part)
        os.replace(part, to)
    finally:
        if os.path.exists(part):
            os.remove(part)


if __name__ == "__main__":
    main(*sys.argv[1:])
