#include "config/plugin_tables.hpp"

namespace backplane {

std::shared_ptr<const OptionTable> PluginTables::Find(uint32_t kind, const std::string& name,
                                                      const std::vector<std::filesystem::path>& folders, std::string* why_not) {
  if (!lookup_) {
    *why_not = "plugins cannot be looked up here";
    return nullptr;
  }
  const PluginInfo* info = lookup_(kind, name, folders, why_not);
  if (!info) return nullptr;
  std::shared_ptr<const OptionTable>& table = tables_[info];
  if (!table) table = std::make_shared<OptionTable>(*info);
  return table;
}

}  // namespace backplane
