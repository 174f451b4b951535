#include "figures/chart.hpp"

#include <set>
#include <stdexcept>

#include "base/json_fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Excludes Vega's events, such as "@mark:click".
bool IsAnchor(const json& node) {
  const std::string text = Text(node);
  return text.starts_with('@') && text.find(':') == std::string::npos;
}

class Filling {
 public:
  Filling(const json& parts, const Anchors& own, const Anchors& shared) : parts_(parts), values_(own) {
    for (const auto& [name, value] : own) unused_.insert(name);
    for (const auto& [name, part] : parts.items()) unused_.insert(name);
    values_.insert(shared.begin(), shared.end());
  }

  // A list for an anchor adds its entries.
  static void Append(const json& part, bool is_anchor, json* list) {
    if (is_anchor && part.is_array())
      list->insert(list->end(), part.begin(), part.end());
    else
      list->push_back(part);
  }

  // nullopt if the object is removed.
  std::optional<json> Fill(const json& node) {
    if (IsAnchor(node)) return Value(Text(node).substr(1));
    if (!node.is_structured()) return node;
    json filled = node.is_array() ? json::array() : json::object();
    for (const auto& [key, value] : node.items()) {
      const std::optional<json> part = Fill(value);
      if (!part) {
        if (node.is_array()) continue;
        if (key == "condition") return json{{"value", value.at("value")}};
        if (IsAnchor(value) || key == "data") return std::nullopt;
        continue;
      }
      if (node.is_object())
        filled[key] = *part;
      else
        Append(*part, IsAnchor(value), &filled);
    }
    return filled.empty() && !node.empty() ? std::nullopt : std::optional(std::move(filled));
  }

  const std::set<std::string>& unused() const { return unused_; }

 private:
  std::optional<json> Value(const std::string& name) {
    unused_.erase(name);
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (!parts_.contains(name)) throw std::logic_error("the anchor @" + name + " has no value");
    return Fill(parts_.at(name));
  }

  const json& parts_;
  Anchors values_;
  std::set<std::string> unused_;
};

}  // namespace

json FillAnchors(const json& chart, const Anchors& own, const Anchors& shared) {
  json view = chart;
  view.erase("parts");
  const json parts = chart.value("parts", json::object());
  Filling filling(parts, own, shared);
  json filled = filling.Fill(view).value();
  if (!filling.unused().empty()) throw std::logic_error("the anchor @" + *filling.unused().begin() + " is missing");
  return filled;
}

json FillChart(const std::string& name, const Anchors& own, const Anchors& shared) {
  try {
    return FillAnchors(json::parse(ChartFiles().at(name)), own, shared);
  } catch (const std::exception& error) {
    throw std::logic_error("charts/" + name + ".vl.json: " + error.what());
  }
}

}  // namespace backplane
