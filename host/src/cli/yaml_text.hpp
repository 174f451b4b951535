// A resolved experiment as YAML text, for people.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

struct YamlTextOptions {
  // Whether the value at a path ("learner.options.lr") is printed; a mapping is printed if any of its values is.
  std::function<bool(const std::string& path)> keep;
  std::function<std::string(const std::string& path)> comment;  // empty: none
};

std::string YamlText(const nlohmann::json& document, const YamlTextOptions& options);

}  // namespace backplane
