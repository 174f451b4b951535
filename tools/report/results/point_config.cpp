#include "results/point_config.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_path.hpp"
#include "yaml/errors.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMaxFileBytes = 16 << 20;
// Older programs use this name for stages.
constexpr const char* kNamesOfStages[] = {"stages", "phases"};

nlohmann::json ReadYaml(const std::filesystem::path& file) {
  const FileText read = ReadRegularFile(file, kMaxFileBytes);
  if (!read.text) throw std::runtime_error("cannot read '" + file.string() + "': " + read.why_not);
  Errors errors;
  const std::optional<Node> root = ParseDocument(*read.text, MakeSource(file.string(), "", *read.text, 0), &errors);
  if (errors.empty()) return PlainJson(*root);
  const Diagnostic first = errors.Sorted().front();
  throw std::runtime_error(file.string() + ":" + std::to_string(first.line) + ": " + first.message);
}

bool IsOfStages(const std::string& path) {
  return std::any_of(std::begin(kNamesOfStages), std::end(kNamesOfStages),
                     [&](const std::string& name) { return path.starts_with(name + "."); });
}

}  // namespace

BatchConfig::BatchConfig(const std::filesystem::path& file) : experiment_(ReadYaml(file)) {
  if (!At(experiment_, "experiment").is_string()) {
    throw std::runtime_error(file.string() + ": expected \"experiment\" with the experiment's name, got no such key");
  }
  const nlohmann::json list = At(At(experiment_, "sweep"), "list");
  for (const nlohmann::json& entry : list.is_array() ? list : nlohmann::json::array()) {
    points_[Text(At(entry, "name"))] = entry;
  }
  experiment_.erase("sweep");
  for (const char* name : kNamesOfStages) experiment_.erase(name);
}

nlohmann::json BatchConfig::OfPoint(const PlanLine& line) const {
  nlohmann::json config = experiment_;
  if (const auto found = points_.find(NameWithoutStage(line.name, line.stage)); found != points_.end()) {
    for (const auto& [path, value] : found->second.items()) {
      if (path != "name" && path != "why" && !IsOfStages(path)) SetAtPath(&config, path, value);
    }
  }
  if (line.stage.empty()) return config;
  for (const auto& [path, value] : line.values) SetAtPath(&config, path, value);
  return config;
}

}  // namespace backplane
