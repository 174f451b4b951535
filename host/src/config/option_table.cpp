#include "config/option_table.hpp"

#include "config/aliases.hpp"

namespace backplane {

OptionTable::OptionTable(const PluginInfo& info) : info_(info) {
  for (const OptionInfo& option : info_.options) {
    TableOption entry{&option, {static_cast<ValueType>(option.type), option.range.value_or("")}, HostKeyOf(option), {}, ""};
    if (option.def) entry.default_value = ReadDefault(*option.def, entry.rule, &entry.bad_default);
    options_.push_back(std::move(entry));
  }
  for (const TableOption& entry : options_) by_name_.emplace(entry.info->path, &entry);
  for (const TableOption& entry : options_) {
    for (const std::string& alias : entry.info->aliases) by_name_.emplace(alias, &entry);
  }
}

const TableOption* OptionTable::Find(const std::string& name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<const OptionTable> PluginTables::Find(uint32_t kind, const std::string& name,
                                                      const std::vector<std::filesystem::path>& folders, std::string* why_not) {
  if (!lookup_) {
    *why_not = "no plugins can be looked up here";
    return nullptr;
  }
  const PluginInfo* info = lookup_(kind, name, folders, why_not);
  if (!info) return nullptr;
  std::shared_ptr<const OptionTable>& table = tables_[info];
  if (!table) table = std::make_shared<OptionTable>(*info);
  return table;
}

}  // namespace backplane
