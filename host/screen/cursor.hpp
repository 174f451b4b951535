// The terminal's cursor, hidden while a block is redrawn in place, and shown again however this process ends (but by SIGKILL)
// or is stopped.
#pragma once

#include <cstdio>

namespace backplane {

void HideCursor(std::FILE* terminal);  // may be called again and again
void ShowCursor();                     // nothing where it is not hidden

// Terminals that support them show all output between the two in one update.
inline constexpr char kBeginUpdate[] = "\x1b[?2026h", kEndUpdate[] = "\x1b[?2026l";

}  // namespace backplane
