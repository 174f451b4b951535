#include "contract/experiment.hpp"

#include <stdexcept>
#include <string_view>

#include "contract/schema.hpp"

namespace backplane {
namespace {

using nlohmann::json;

json::json_pointer Pointer(const std::string& path) {
  std::string pointer = "/" + path;
  for (char& c : pointer) c = c == '.' ? '/' : c;
  return json::json_pointer(pointer);
}

void RefuseUnknownKeys(const json& object, const std::string& prefix) {
  for (const auto& [name, value] : object.items()) {
    std::string path = prefix + name;
    const HostKey* key = FindHostKey(path);
    if (key && key->set) continue;
    if (!IsSection(path) || !value.is_object()) throw std::runtime_error("unknown key '" + path + "' in a saved configuration");
    RefuseUnknownKeys(value, path + ".");
  }
}

// An older program may have saved the configuration before the key was there. The struct has the same defaults, and
// keys without one are absent.
bool MayBeMissing(const HostKey& key) {
  return key.def ? std::string_view(key.def).find('<') == std::string_view::npos : !key.required;
}

}  // namespace

json ToJson(const Experiment& experiment) {
  json result = json::object();
  for (const HostKey& key : HostKeys()) {
    if (!key.get || (key.of_command && !experiment.HasCommand())) continue;
    json value = key.get(key, experiment);
    const bool is_unset = (key.rare && value.is_null()) || (key.type == ValueType::kWrappers && value.empty()) ||
                          (key.of_command && (value.is_null() || (key.type == ValueType::kWords && value.empty())));
    if (!is_unset) result[Pointer(key.path)] = std::move(value);
  }
  return result;
}

Experiment ExperimentFromJson(const json& document) {
  if (!document.is_object()) throw std::runtime_error("expected a saved configuration, a JSON object");
  RefuseUnknownKeys(document, "");
  Experiment experiment;
  for (const HostKey& key : HostKeys()) {
    if (!key.set) continue;
    json::json_pointer pointer = Pointer(key.path);
    if (!document.contains(pointer)) {
      if (MayBeMissing(key)) continue;
      throw std::runtime_error("missing key '" + key.path + "' in a saved configuration");
    }
    key.set(key, document.at(pointer), &experiment);
  }
  return experiment;
}

}  // namespace backplane
