// A plugin's options, prepared for being read many times: defaults parsed, names indexed.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/loader.hpp"
#include "config/value.hpp"

namespace backplane {

struct HostKey;

struct TableOption {
  const OptionInfo* info;
  ValueRule rule;
  const HostKey* host_key;                      // the host key that it is another name of, or NULL
  std::optional<nlohmann::json> default_value;  // absent: there is none, or `bad_default` says what is wrong with it
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

// Looks plugins up and keeps the table of each.
class PluginTables {
 public:
  explicit PluginTables(PluginLookup lookup) : lookup_(std::move(lookup)) {}
  // NULL and a sentence in `why_not` if the plugin cannot be used.
  std::shared_ptr<const OptionTable> Find(uint32_t kind, const std::string& name,
                                          const std::vector<std::filesystem::path>& folders, std::string* why_not);

 private:
  PluginLookup lookup_;
  std::map<const PluginInfo*, std::shared_ptr<const OptionTable>> tables_;
};

}  // namespace backplane
