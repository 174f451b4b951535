// Breaks text for readable files into lines of limited width.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// Lines of at most `width` columns (> 0), broken at spaces, and words that are longer anywhere.
std::vector<std::string> Fold(const std::string& text, size_t width);

// Lines that end with a line feed: `head` before the first, spaces of the same width before the others. At most `width`
// columns.
std::string Hanging(const std::string& head, const std::string& text, size_t width);

// Folds a command into lines that a shell joins: broken at spaces outside quotes, " \" at the end. Longer words are not broken.
std::string FoldCommand(const std::string& command, const std::string& indent, size_t width);

}  // namespace backplane
