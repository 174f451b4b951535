// Text from outside (a file, a plugin, another program) as a terminal may show it.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// One line of valid UTF-8 without anything that moves a cursor, changes colours or turns the direction of reading: a newline
// stands as "\n", a tab as "\t", another control character as "\x1b" or "\u202e". A byte that is not UTF-8 stands as U+FFFD. At
// most `columns` characters, the last three of them "..." if there were more; a control character is shown whole or not at all.
std::string Printable(std::string_view text, size_t columns = std::string_view::npos);

// The first byte of `text` that is not UTF-8, or its size.
size_t FindNotUtf8(std::string_view text);

}  // namespace backplane
