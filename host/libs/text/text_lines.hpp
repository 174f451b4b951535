// Lines of a text file for people, at most so many columns wide.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// Lines of at most `width` columns (> 0), broken at spaces, and words that are longer anywhere.
std::vector<std::string> Fold(const std::string& text, size_t width);

// Lines that end with a line feed: `head` before the first, as many spaces before the others. At most `width` columns.
std::string Hanging(const std::string& head, const std::string& text, size_t width);

// A command of several words on lines that a shell reads as one: broken at spaces outside quotes, " \" at the end. A longer
// word keeps its length.
std::string FoldCommand(const std::string& command, const std::string& indent, size_t width);

}  // namespace backplane
