// The complete configuration of a point that never started, from the config.yaml of its batch.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "record/plan_file.hpp"

namespace backplane {

class BatchConfig {
 public:
  // Throws std::runtime_error naming the file and what is wrong with it.
  explicit BatchConfig(const std::filesystem::path& file);

  const nlohmann::json& experiment() const { return experiment_; }  // without its sweep
  // The experiment with the values that the sweep's list has for this point, and those that the plan has for it.
  nlohmann::json OfPoint(const PlanLine& line) const;

 private:
  nlohmann::json experiment_;
  std::map<std::string, nlohmann::json> points_;  // by name
};

}  // namespace backplane
