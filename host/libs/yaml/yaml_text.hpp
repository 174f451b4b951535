// A resolved experiment as YAML text, for people.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

struct YamlTextOptions {
  // Returns true if the value at a path ("learner.options.lr") is printed; a mapping is printed if any of its values is.
  std::function<bool(const std::string& path)> keep = [](const std::string&) { return true; };
  std::function<std::string(const std::string& path)> comment = [](const std::string&) {
    return std::string();
  };  // empty: none
};

std::string YamlText(const nlohmann::json& document, const YamlTextOptions& options);

}  // namespace backplane
