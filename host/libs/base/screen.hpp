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
// `live` for a terminal unless TERM is "dumb". For `colour` see base/colour.hpp; LC_ALL, LC_CTYPE or LANG decide on UTF-8.
Screen DetectScreen(int fd);

}  // namespace backplane
