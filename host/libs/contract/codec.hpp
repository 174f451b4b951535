// Members of an Experiment to values of a saved configuration and back. Decode throws std::runtime_error when the JSON does not
// fit.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/policy.hpp"
#include "contract/schema.hpp"
#include "text/units.hpp"

namespace backplane {

inline nlohmann::json Encode(const HostKey& key, double v) {
  return key.type == ValueType::kDuration  ? nlohmann::json(FormatDuration(v))
         : key.type == ValueType::kPercent ? nlohmann::json(FormatPercent(v))
                                           : nlohmann::json(v);
}
inline nlohmann::json Encode(const HostKey& key, uint64_t v) {
  return key.type == ValueType::kSize ? nlohmann::json(FormatSize(v)) : nlohmann::json(v);
}
inline nlohmann::json Encode(const HostKey&, const DeviceMemory& v) {
  return v.percent > 0 ? FormatPercent(v.percent) : FormatSize(v.bytes);
}
inline nlohmann::json Encode(const HostKey&, bool v) { return v; }
inline nlohmann::json Encode(const HostKey& key, const std::string& v) {
  return v.empty() && key.type == ValueType::kPluginName ? nlohmann::json() : nlohmann::json(v);  // of a trial by command
}
inline nlohmann::json Encode(const HostKey&, const std::vector<std::string>& v) { return v; }
inline nlohmann::json Encode(const HostKey& key, const nlohmann::json& v) {
  return v.is_null() && key.type != ValueType::kJson ? nlohmann::json::object() : v;
}
inline nlohmann::json Encode(const HostKey&, const FailureRule& v) { return FormatFailurePolicy(v); }
inline nlohmann::json Encode(const HostKey&, const FlappingLimit& v) { return FormatFlapping(v); }
inline nlohmann::json Encode(const HostKey&, const Goal& v) { return JsonOfGoal(v); }
inline nlohmann::json Encode(const HostKey&, const std::vector<PluginUse>& uses) {
  nlohmann::json list = nlohmann::json::array();
  for (const PluginUse& use : uses) {
    list.push_back({{"plugin", use.plugin}, {"options", use.options.is_null() ? nlohmann::json::object() : use.options}});
  }
  return list;
}
template <typename T>
nlohmann::json Encode(const HostKey& key, const std::optional<T>& v) {
  if (v) return Encode(key, *v);
  return key.def ? nlohmann::json(key.def) : nlohmann::json(nullptr);  // absent means the default: "auto"
}

[[noreturn]] inline void Misfit(const HostKey& key, const nlohmann::json& value) {
  throw std::runtime_error(key.path + ": a saved configuration cannot contain " + value.dump() + " here");
}

inline void Decode(const HostKey& key, const nlohmann::json& j, double* v) {
  const bool is_duration = key.type == ValueType::kDuration, is_percent = key.type == ValueType::kPercent;
  if (!is_duration && !is_percent) {
    if (!j.is_number()) Misfit(key, j);
    *v = j.get<double>();
    return;
  }
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  const std::optional<double> read = is_duration ? ParseDuration(text) : ParsePercent(text);
  if (!read) Misfit(key, j);
  *v = *read;
}
inline void Decode(const HostKey& key, const nlohmann::json& j, uint64_t* v) {
  std::optional<uint64_t> bytes = j.is_string() ? ParseSize(j.get<std::string>()) : std::nullopt;
  bool whole = j.is_number_unsigned() || (j.is_number_integer() && j.get<int64_t>() >= 0);
  if (key.type == ValueType::kSize ? !bytes : !whole) Misfit(key, j);
  *v = bytes ? *bytes : j.get<uint64_t>();
}
inline void Decode(const HostKey& key, const nlohmann::json& j, DeviceMemory* v) {
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  const std::optional<double> percent = ParsePercent(text);
  const std::optional<uint64_t> bytes = ParseSize(text);
  if (!percent && !bytes) Misfit(key, j);
  *v = {bytes.value_or(0), percent.value_or(0)};
}
inline void Decode(const HostKey& key, const nlohmann::json& j, bool* v) {
  if (!j.is_boolean()) Misfit(key, j);
  *v = j.get<bool>();
}
inline void Decode(const HostKey& key, const nlohmann::json& j, std::string* v) {
  if (j.is_null() && key.type == ValueType::kPluginName) return v->clear();
  if (!j.is_string()) Misfit(key, j);
  *v = j.get<std::string>();
}
inline void Decode(const HostKey& key, const nlohmann::json& j, std::vector<std::string>* v) {
  if (!j.is_array()) Misfit(key, j);
  v->resize(j.size());
  for (size_t i = 0; i < j.size(); ++i) Decode(key, j[i], &(*v)[i]);
}
inline void Decode(const HostKey& key, const nlohmann::json& j, nlohmann::json* v) {
  if (!j.is_object() && key.type != ValueType::kJson) Misfit(key, j);
  *v = j;
}
inline void Decode(const HostKey& key, const nlohmann::json& j, FailureRule* v) {
  std::optional<FailureRule> policy = ParseFailurePolicy(j);
  if (!policy) Misfit(key, j);
  *v = *policy;
}
inline void Decode(const HostKey& key, const nlohmann::json& j, FlappingLimit* v) {
  std::optional<FlappingLimit> limit = ParseFlapping(j);
  if (!limit) Misfit(key, j);
  *v = *limit;
}
inline void Decode(const HostKey& key, const nlohmann::json& j, Goal* v) {
  std::string why_not;
  std::optional<Goal> goal = GoalFromJson(j, &why_not);
  if (!goal) Misfit(key, j);
  *v = *std::move(goal);
}
inline void Decode(const HostKey& key, const nlohmann::json& j, std::vector<PluginUse>* v) {
  if (!j.is_array()) Misfit(key, j);
  for (const nlohmann::json& item : j) {
    if (!item.is_object() || item.size() != 2 || !item.contains("plugin") || !item.contains("options")) Misfit(key, item);
    PluginUse use;
    Decode(key, item["plugin"], &use.plugin);
    Decode(key, item["options"], &use.options);
    v->push_back(use);
  }
}
template <typename T>
void Decode(const HostKey& key, const nlohmann::json& j, std::optional<T>* v) {
  v->reset();
  if (!j.is_null() && !(key.def && j == key.def)) Decode(key, j, &v->emplace());
}

}  // namespace backplane
