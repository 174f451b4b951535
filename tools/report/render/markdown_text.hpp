// Escapes a user's text for GitHub's Markdown.
#pragma once

#include <string>

namespace backplane {

// On one line, safe in a table cell.
std::string MarkdownText(const std::string& text);
std::string MarkdownCode(const std::string& text);  // `text`
// A block of code that ends with a line feed. The fence is longer than any in the text.
std::string MarkdownFence(const std::string& language, const std::string& text);

}  // namespace backplane
