// Looks plugins up and keeps the table of options of each.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "plugin/option_table.hpp"

namespace backplane {

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
