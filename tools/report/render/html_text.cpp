#include "render/html_text.hpp"

#include <fmt/format.h>

#include "render/file_link.hpp"

namespace backplane {

std::string HtmlText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default:
        // HTML allows no other control characters.
        escaped += (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f' ? ' ' : c;
    }
  }
  return escaped;
}

std::string HtmlId(const std::string& text) {
  std::string id = "s-";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    id += is_plain ? c : '-';
  }
  return id;
}

std::string HtmlLink(const std::filesystem::path& file, const std::filesystem::path& folder) {
  if (folder.empty()) return "";
  const auto whole = [](const std::filesystem::path& path) { return std::filesystem::absolute(path).lexically_normal(); };
  std::string link;
  for (const std::filesystem::path& part : whole(file).lexically_relative(whole(folder / "")))
    link += (link.empty() ? "" : "/") + (part == ".." ? std::string("..") : FileLink(part.string()));
  return link;
}

std::string HtmlSnippet(const std::string& text) {
  return "<div class=\"snippet\"><pre tabindex=\"0\"><code>" + HtmlText(text) + "</code></pre></div>\n";
}

std::string HtmlCode(const std::string& title, const std::string& text) {
  return fmt::format("<details class=\"fold code\"><summary>{}</summary>\n{}</details>\n", HtmlText(title), HtmlSnippet(text));
}

}  // namespace backplane
