#include "base/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/colour.hpp"

namespace backplane {
namespace {

// POSIX: the first of these variables that is set determines the locale.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
    }
  }
  return false;
}

}  // namespace

Screen DetectScreen(int fd) {
  Screen screen;
  const char* term = std::getenv("TERM");
  screen.live = isatty(fd) != 0 && (term == nullptr || std::strcmp(term, "dumb") != 0);
  screen.colour = ShowsColour(fd);
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    screen.width = size.ws_col;
  }
  if (size.ws_row > 0) {
    screen.height = size.ws_row;
  }
  screen.utf8 = LocaleIsUtf8();
  return screen;
}

}  // namespace backplane
