// Text for a screen of fixed width, counted in its cells: a Korean or Chinese character takes two.
#pragma once

#include <string>
#include <vector>

namespace backplane {

size_t Columns(const std::string& text);
size_t BytesWithin(const std::string& text, size_t columns);  // of whole characters from the beginning

// At least `width` columns, filled with spaces.
std::string PadRight(const std::string& text, size_t width);
std::string PadLeft(const std::string& text, size_t width);

// At most `width` columns; what was left out in the middle or at the end stands as "…", or "..." on a terminal without UTF-8.
std::string CutMiddle(const std::string& text, size_t width, bool utf8);
std::string CutEnd(const std::string& text, size_t width, bool utf8);

// A name such as "num_env_runners=8 lr=0.1": its keys are cut, all to the same length, so that the values that tell trials
// apart stay. Where that does not suffice it is cut in the middle.
std::string CutName(const std::string& name, size_t width, bool utf8);

// Lines of at most `width` columns, broken at spaces; a longer word has a line of its own.
std::vector<std::string> WrapWords(const std::string& text, size_t width);
// The same as one text, each line with its end: after `first` the first, after `next` the others.
std::string WrapAfter(const std::string& first, const std::string& next, const std::string& text, size_t width);

}  // namespace backplane
