// Options with which a learner reads its budget (bp_param.reads_budget), as its description declares them.
#pragma once

#include <nlohmann/json.hpp>

#include "plugin/plugin_info.hpp"

namespace backplane {

bool ReadsBudget(const OptionInfo& option, const nlohmann::json& value);
// `options` are complete, as in a resolved experiment.
bool ReadsBudget(const PluginInfo& learner, const nlohmann::json& options);

}  // namespace backplane
