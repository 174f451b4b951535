"""Pixels of the pictures that envs draw."""
from __future__ import annotations

import functools
import io
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ._library import check, ffi, lib

_FONTS = "/usr/share/fonts/truetype/dejavu"
_SVG, _PNG = 1, 2


@functools.cache
def _packages() -> tuple[Any, Any]:
    try:
        import vl_convert
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"pictures need vl-convert-python and pillow: {error}\nhint: pip install vl-convert-python pillow") from error
    if os.path.isdir(_FONTS):
        vl_convert.register_font_directory(_FONTS)
    return vl_convert, Image


def draw(handle: Any, row: int) -> npt.NDArray[np.uint8]:
    """Returns the picture of a row over white: uint8 [height, width, 3]."""
    picture = ffi.new("bp_picture*")
    check(lib.bp_embed_render(handle, row, picture))
    layers = [bytes(ffi.buffer(data, n)) for data, n in ((picture.backdrop, picture.backdrop_bytes), (picture.frame, picture.frame_bytes)) if n]
    vl_convert, Image = _packages()
    if picture.format == _SVG:
        svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.height}" '
               f"font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"14\">{''.join(layer.decode() for layer in layers)}</svg>")
        layers = [vl_convert.svg_to_png(svg)]
    image = Image.new("RGBA", (picture.width, picture.height), "white")
    for layer in layers:
        image.alpha_composite(Image.open(io.BytesIO(layer)).convert("RGBA"))
    return np.array(image.convert("RGB"))
