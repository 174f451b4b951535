#include "yaml/flow_text.hpp"

#include "base/shell_argument.hpp"

namespace backplane {
namespace {

// Quotes text that would be read as something else between brackets.
std::string ScalarText(const Node& node) {
  const bool is_plain = !node.quoted && node.text.find_first_of(",[]{}#:\n\"'") == std::string::npos;
  if (is_plain && !node.text.empty()) return node.text;
  std::string text = "'";
  for (const char c : node.text) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string FlowText(const Node& node) {
  std::string text;
  if (node.IsScalar()) return ScalarText(node);
  for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + FlowText(item);
  for (const Entry& entry : node.entries) text += (text.empty() ? "" : ", ") + entry.key + ": " + FlowText(entry.value);
  return node.IsList() ? "[" + text + "]" : node.IsMap() ? "{" + text + "}" : "null";
}

std::string KeyLine(const std::string& path, const std::string& value) {
  const size_t dot = path.find('.');
  return dot == std::string::npos ? path + ": " + value
                                  : path.substr(0, dot) + ": {" + KeyLine(path.substr(dot + 1), value) + "}";
}

std::string SettingLine(const Mark& mark, const std::string& section, const std::string& path, const std::string& value) {
  if (mark.source && !mark.source->is_file) return mark.source->name + " " + ShellArgument(path + "=" + value);
  const bool is_own = !section.empty() && path.starts_with(section + ".");
  return KeyLine(is_own ? path.substr(section.size() + 1) : path, value);
}

}  // namespace backplane
