#include "yaml/yaml_text.hpp"

#include <algorithm>

namespace backplane {
namespace {

// JSON's scalars and lists are YAML's flow style; plain words lose their quotes if that is unambiguous.
std::string Scalar(const nlohmann::json& value) {
  if (!value.is_string()) {
    return value.dump();
  }
  const std::string text = value.get<std::string>();
  static const std::string kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static const std::string kOther = "0123456789_-./";
  const bool plain = !text.empty() && kLetters.find(text[0]) != std::string::npos &&
                     text.find_first_not_of(kLetters + kOther) == std::string::npos;
  for (const char* word :
       {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "True", "False", "Yes", "No", "On", "Off"}) {
    if (text == word) {
      return value.dump();
    }
  }
  return plain ? text : value.dump();
}

bool IsListOfMaps(const nlohmann::json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const nlohmann::json& item) { return item.is_object(); });
}

// One line for each: a long list of points stays readable.
std::string Items(const nlohmann::json& list, int indent) {
  std::string text;
  for (const nlohmann::json& item : list) text += std::string(static_cast<size_t>(indent), ' ') + "- " + item.dump() + "\n";
  return text;
}

void Append(const nlohmann::json& map, const YamlTextOptions& options, const std::string& prefix, int indent,
            std::string* text) {
  for (const auto& [key, value] : map.items()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    const std::string head = std::string(static_cast<size_t>(indent), ' ') + key + ":";
    if (value.is_object() && !value.empty()) {
      std::string inner;
      Append(value, options, path, indent + 2, &inner);
      *text += inner.empty() ? "" : head + "\n" + inner;
    } else if (options.keep(path)) {
      const std::string comment = options.comment(path).empty() ? "" : "  # " + options.comment(path);
      *text +=
          IsListOfMaps(value) ? head + comment + "\n" + Items(value, indent + 2) : head + " " + Scalar(value) + comment + "\n";
    }
  }
}

}  // namespace

std::string YamlText(const nlohmann::json& document, const YamlTextOptions& options) {
  std::string text;
  Append(document, options, "", 0, &text);
  return text;
}

}  // namespace backplane
