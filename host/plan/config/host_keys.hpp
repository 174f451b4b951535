// The host's own keys of one experiment, read by the table in schema.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "config/options.hpp"

namespace backplane {

// Every key of the table: from the file or its default. For plugins' options only the places are recorded.
void ReadHostKeys(const Node& root, const std::vector<PluginSlot>& slots, const KeyDefaults& defaults, Values* values,
                  Errors* errors);

// The rows of a trial from the values at the paths of its counts. NULL: one.
uint64_t RowsOf(const std::function<const nlohmann::json*(const std::string& path)>& value_at);

}  // namespace backplane
