#include "yaml/plain_json.hpp"

#include "text/units.hpp"

namespace backplane {

bool IsFlag(const std::string& text, bool value) {
  return value ? text == "true" || text == "True" || text == "TRUE" : text == "false" || text == "False" || text == "FALSE";
}

nlohmann::json PlainJson(const Node& node) {
  using nlohmann::json;
  json value;
  switch (node.kind) {
    case Node::Kind::kNull: return nullptr;
    case Node::Kind::kList:
      value = json::array();
      for (const Node& item : node.items) value.push_back(PlainJson(item));
      return value;
    case Node::Kind::kMap:
      value = json::object();
      for (const Entry& entry : node.entries) value[entry.key] = PlainJson(entry.value);
      return value;
    case Node::Kind::kScalar: break;
  }
  if (node.quoted) return node.text;
  if (IsFlag(node.text, true) || IsFlag(node.text, false)) return IsFlag(node.text, true);
  if (std::optional<int64_t> integer = ParseInteger(node.text)) return *integer;
  if (std::optional<double> number = ParseNumber(node.text)) return *number;
  return node.text;
}

}  // namespace backplane
