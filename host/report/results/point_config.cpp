#include "results/point_config.hpp"

#include <stdexcept>

#include "base/json_fields.hpp"
#include "base/json_path.hpp"
#include "config/base.hpp"
#include "config/errors.hpp"
#include "config/value.hpp"

namespace backplane {

BatchConfig::BatchConfig(const std::filesystem::path& file) {
  Errors errors;
  const std::optional<Node> root = ReadWithBase(file, &errors);
  if (!errors.empty()) {
    const Diagnostic first = errors.Sorted().front();
    throw std::runtime_error(file.string() + ":" + std::to_string(first.line) + ": " + first.message);
  }
  experiment_ = root ? PlainJson(*root) : nlohmann::json();
  if (!At(experiment_, "experiment").is_string()) {
    throw std::runtime_error(file.string() + ": \"experiment\" should name the experiment, and is missing");
  }
  const nlohmann::json list = At(At(experiment_, "sweep"), "list");
  for (const nlohmann::json& entry : list.is_array() ? list : nlohmann::json::array()) {
    points_[Text(At(entry, "name"))] = entry;
  }
  experiment_.erase("sweep");
  experiment_.erase("stages");
}

nlohmann::json BatchConfig::OfPoint(const PlanLine& line) const {
  nlohmann::json config = experiment_;
  if (const auto found = points_.find(NameWithoutStage(line.name, line.stage)); found != points_.end()) {
    for (const auto& [path, value] : found->second.items()) {
      if (path != "name" && !path.starts_with("stages.")) SetAtPath(&config, path, value);
    }
  }
  if (line.stage.empty()) return config;
  for (const auto& [path, value] : line.values) SetAtPath(&config, path, value);
  return config;
}

}  // namespace backplane
