#include "on_policy/memory.hpp"

#include <nlohmann/json.hpp>

namespace backplane::on_policy {
namespace {

constexpr int64_t kLargest = 4096, kLongest = 65536;  // a state of 4096 has 200 MB of weights

std::string Expected(const std::string& key, const std::string& wanted, const std::string& found, const bp::Config& config) {
  return "memory" + key + ": expected " + wanted + ", got " + found + " (" + config.Where("memory") + ")";
}

int64_t Number(const nlohmann::json& value, const std::string& key, int64_t most, const bp::Config& config) {
  const bool good = value.is_number_integer() && value >= 1 && value <= most;
  if (!good) throw bp::ConfigError(Expected(key, "a whole number from 1 to " + std::to_string(most), value.dump(), config));
  return value;
}

}  // namespace

MemoryOptions ReadMemory(const bp::AnyValue& option, const Options& others, Device device, const bp::Config& config) {
  const nlohmann::json value = nlohmann::json::parse(option.json);
  MemoryOptions memory;
  if (value.empty()) return memory;
  memory.size = 128;
  bool has_kind = false;
  for (const auto& [key, each] : value.items()) {
    if (key == "kind") {
      if (each != "gru") throw bp::ConfigError(Expected(".kind", "gru", each.dump(), config));
      has_kind = true;
    } else if (key == "size") {
      memory.size = Number(each, ".size", kLargest, config);
    } else if (key == "sequence") {
      memory.sequence = Number(each, ".sequence", kLongest, config);
    } else {
      throw bp::ConfigError(Expected("", "the keys kind, size and sequence", "'" + key + "'", config));
    }
  }
  if (!has_kind) throw bp::ConfigError(Expected("", "{kind: gru}, with size and sequence if you like", option.json, config));
  if (others.update_path == UpdatePath::kTorch)
    throw bp::ConfigError(
        Expected("", "update_path: fused or auto, because the path of LibTorch has no memory", "torch", config));
  if (device == Device::kCuda)
    throw bp::ConfigError(Expected("", "device: cpu or auto, because updates with a memory run on the CPU", "cuda", config));
  return memory;
}

}  // namespace backplane::on_policy
