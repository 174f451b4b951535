// A plugin's options, prepared for repeated reading: defaults parsed, names indexed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "contract/value.hpp"
#include "plugin/plugin_info.hpp"

namespace backplane {

struct HostKey;

struct TableOption {
  const OptionInfo* info;
  ValueRule rule;
  const HostKey* host_key;                      // the host key that it is another name of, or NULL
  std::optional<nlohmann::json> default_value;  // absent: there is none, or `bad_default` contains its error
  std::string bad_default;
};

class OptionTable {
 public:
  explicit OptionTable(const PluginInfo& info);
  OptionTable(const OptionTable&) = delete;

  const PluginInfo& info() const { return info_; }
  const std::vector<TableOption>& options() const { return options_; }
  // By its own name or another it declares. NULL: no such option.
  const TableOption* Find(const std::string& name) const;

 private:
  PluginInfo info_;
  std::vector<TableOption> options_;
  std::unordered_map<std::string, const TableOption*> by_name_;
};

}  // namespace backplane
