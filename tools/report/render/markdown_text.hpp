// Words of a user in GitHub's Markdown: whatever they hold, they are read as words.
#pragma once

#include <string>

namespace backplane {

// On one line, and safe in a table's cell.
std::string MarkdownText(const std::string& text);
std::string MarkdownCode(const std::string& text);  // `text`
// A block of code that ends with a line feed. The fence is longer than any in the text.
std::string MarkdownFence(const std::string& language, const std::string& text);

}  // namespace backplane
