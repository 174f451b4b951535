#include "plugin/option_table.hpp"

#include "plugin/host_named.hpp"

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

}  // namespace backplane
