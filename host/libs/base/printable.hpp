// Text from outside (a file, a plugin, another program) as a terminal may show it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// One line of valid UTF-8 without characters that move the cursor, change colours or the reading direction: a newline becomes
// "\n", a tab "\t", other control characters "\x1b" or "\u202e", an invalid byte U+FFFD. At most `columns` characters, the last
// three of them "..." if there were more; escapes are never split.
std::string Printable(std::string_view text, size_t columns = std::string_view::npos);

// Each line of a text of several, such as a sentence and its traceback.
std::vector<std::string> PrintableLines(std::string_view text);
// The first of them.
std::string PrintableFirstLine(std::string_view text);

// The first byte of `text` that is not UTF-8, or its size.
size_t FindNotUtf8(std::string_view text);

}  // namespace backplane
