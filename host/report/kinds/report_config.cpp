#include "kinds/report_config.hpp"

#include "base/json_fields.hpp"

namespace backplane {

using nlohmann::json;

ReportConfig ReportConfigOf(const json& report) {
  ReportConfig config;
  if (At(report, "kind").is_string()) config.kind = At(report, "kind").get<std::string>();
  if (At(report, "name").is_string()) config.name = At(report, "name").get<std::string>();
  config.baseline = At(report, "baseline");
  const json& balanced = At(report, "balanced");
  config.balanced.memory = NumberOf(At(balanced, "memory")).value_or(config.balanced.memory);
  config.balanced.efficiency = NumberOf(At(balanced, "efficiency"));
  config.balanced.device_memory = NumberOf(At(balanced, "device_memory"));
  config.balanced.cpu = NumberOf(At(balanced, "cpu"));
  config.balanced.gpu = NumberOf(At(balanced, "gpu"));
  config.timing = At(report, "timing").is_boolean() && At(report, "timing").get<bool>();
  config.columns = At(report, "columns");
  config.figures = At(report, "figures");
  config.select = At(report, "select");
  config.notes = At(report, "notes");
  return config;
}

}  // namespace backplane
