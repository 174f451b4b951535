// Text for a screen of fixed width, measured in cells: a Korean or Chinese character has two.
#pragma once

#include <string>
#include <vector>

namespace backplane {

size_t Columns(const std::string& text);
size_t BytesWithin(const std::string& text, size_t columns);  // of a prefix of whole characters

// Pads with spaces to at least `width` columns.
std::string PadRight(const std::string& text, size_t width);
std::string PadLeft(const std::string& text, size_t width);

// At most `width` columns; "…" replaces the omitted middle or end, or "..." on a terminal without UTF-8.
std::string CutMiddle(const std::string& text, size_t width, bool utf8);
std::string CutEnd(const std::string& text, size_t width, bool utf8);

// Shortens the keys of a name such as "num_env_runners=8 lr=0.1" to a common length, so that the distinctive values stay
// visible. If that is not enough, cuts the middle.
std::string CutName(const std::string& name, size_t width, bool utf8);

// Breaks text at spaces into lines of at most `width` columns; a longer word gets its own line.
std::vector<std::string> WrapWords(const std::string& text, size_t width);
// The same as one text of terminated lines, the first prefixed with `first`, the others with `next`.
std::string WrapAfter(const std::string& first, const std::string& next, const std::string& text, size_t width);

}  // namespace backplane
