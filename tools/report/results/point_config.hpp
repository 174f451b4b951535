// The complete configuration of an unstarted point, from its batch's config.yaml.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "record/plan_file.hpp"

namespace backplane {

class BatchConfig {
 public:
  // Throws std::runtime_error with the file and the error.
  explicit BatchConfig(const std::filesystem::path& file);

  const nlohmann::json& experiment() const { return experiment_; }  // without its sweep
  // The experiment with the point's values from the sweep's list and from the plan.
  nlohmann::json OfPoint(const PlanLine& line) const;

 private:
  nlohmann::json experiment_;
  std::map<std::string, nlohmann::json> points_;  // by name
};

}  // namespace backplane
