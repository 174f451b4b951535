// The terminal behind a descriptor.
#pragma once

namespace backplane {

struct Screen {
  bool live = false;  // redraw one line; otherwise only whole lines
  bool colour = false;
  int width = 80;     // columns
  int height = 24;    // lines
  bool utf8 = false;  // it shows characters beyond ASCII
};
// `fd` a terminal, TERM not "dumb": live. Colour as base/colour.hpp says, UTF-8 as LC_ALL, LC_CTYPE or LANG say.
Screen DetectScreen(int fd);

}  // namespace backplane
