// Options of a plugin, read by the table it declares.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

// Values that were read: path -> value as in a saved configuration, and path -> place.
struct Values {
  std::unordered_map<std::string, nlohmann::json> values;  // looked up by path, hundreds of times at each point of a sweep
  std::map<std::string, std::string> origin;
  void Put(const std::string& path, nlohmann::json value, const Mark& mark);
};

// Every option of the slot's table: from the file, from the host key it names, from its default, or null. The host's own keys
// must have been read into `host`; origins are added to it.
nlohmann::json ReadOptions(const Node& root, const PluginSlot& slot, const std::vector<PluginSlot>& slots, Values* host,
                           Errors* errors);

// Only the options that differ in evaluation.
nlohmann::json ReadEvaluationOptions(const Node& root, const std::vector<PluginSlot>& slots, Values* host, Errors* errors);

}  // namespace backplane
