#include "plugin/host_named.hpp"

#include <cmath>

#include "base/json_path.hpp"
#include "contract/schema.hpp"
#include "plugin/option_table.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Bytes or seconds per unit; 1 if the option has no unit that the key understands.
double UnitFactor(const HostKey& key, const std::string& unit) {
  if (key.type == ValueType::kDuration) return ParseDuration("1" + unit).value_or(1);
  return static_cast<double>(ParseSize("1" + unit).value_or(1));
}

}  // namespace

bool IsMeasured(const HostKey& key) {
  return key.type == ValueType::kSize || key.type == ValueType::kSizeOrShare || key.type == ValueType::kDuration;
}

const HostKey* HostKeyOf(const OptionInfo& option) {
  for (const std::string& alias : option.aliases) {
    const HostKey* key = alias.find('.') == std::string::npos ? nullptr : FindHostKey(alias);
    if (key && key->set) return key;
  }
  return nullptr;
}

std::optional<json> FromHostKey(const json& value, const OptionInfo& option) {
  const HostKey& key = *HostKeyOf(option);
  json plain = value;
  if (IsMeasured(key) && value.is_string()) {
    std::string text = value.get<std::string>();
    std::optional<double> number;
    if (key.type == ValueType::kDuration) number = ParseDuration(text);
    if (auto bytes = key.type == ValueType::kDuration ? std::nullopt : ParseSize(text)) number = static_cast<double>(*bytes);
    if (number) plain = *number / UnitFactor(key, option.unit);
  }
  switch (static_cast<ValueType>(option.type)) {
    case ValueType::kNumber: return plain.is_number() ? std::optional<json>(plain.get<double>()) : std::nullopt;
    case ValueType::kInteger:
      if (plain.is_number_integer()) return plain;
      return plain.is_number() ? std::optional<json>(static_cast<int64_t>(std::floor(plain.get<double>()))) : std::nullopt;
    case ValueType::kFlag: return plain.is_boolean() ? std::optional(plain) : std::nullopt;
    case ValueType::kText:
    case ValueType::kEnum:
    case ValueType::kPath: return value.is_string() ? std::optional(value) : std::nullopt;
    default: return std::nullopt;
  }
}

void AddHostNamed(const PluginInfo& info, const json& experiment, json* options) {
  const OptionTable table(info);
  for (const TableOption& option : table.options()) {
    if (!option.host_key || options->contains(option.info->path)) continue;
    json value = AtPath(experiment, option.host_key->path);
    // Written as plain bytes and seconds, whatever the option's unit.
    if (value.is_number() && IsMeasured(*option.host_key))
      value = value.dump() + (option.host_key->type == ValueType::kDuration ? "s" : "B");
    const std::optional<json> seen = FromHostKey(value, *option.info);
    (*options)[option.info->path] = seen ? *seen : option.default_value.value_or(nullptr);
  }
}

}  // namespace backplane
