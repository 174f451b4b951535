#include "plugin/reads_budget.hpp"

#include <algorithm>

#include "contract/value.hpp"

namespace backplane {

bool ReadsBudget(const OptionInfo& option, const nlohmann::json& value) {
  const std::string& values = option.reads_budget;
  if (values.empty() || values == "*") return !values.empty();
  const bool has_interval = values.find(',') != std::string::npos;
  if (value.is_number()) return has_interval && InRange(values, value.get<double>());
  return IsRangeWord(values, value.is_string() ? value.get<std::string>() : value.dump());
}

bool ReadsBudget(const PluginInfo& learner, const nlohmann::json& options) {
  return std::any_of(learner.options.begin(), learner.options.end(), [&](const OptionInfo& option) {
    const auto value = options.is_object() ? options.find(option.path) : options.end();
    return value != options.end() && ReadsBudget(option, *value);
  });
}

}  // namespace backplane
