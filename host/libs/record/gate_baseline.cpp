#include "record/gate_baseline.hpp"

#include <stdexcept>

#include "base/files.hpp"

namespace backplane {

GateBaseline ReadGateBaseline(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(file.string() + ": " + why + "; expected a baseline from `gate save`");
  };
  const std::optional<std::string> text = ReadFile(file);
  if (!text) refuse(std::filesystem::exists(file) ? "is not a regular file" : "does not exist");
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) refuse("is not a JSON object");
  GateBaseline baseline;
  try {
    baseline = RecordFromJson<GateBaseline>(json);
  } catch (const RecordError& error) {
    refuse(error.what());
  }
  if (baseline.schema != kGateSchema)
    refuse("is of schema " + std::to_string(baseline.schema) + ", this program reads " + std::to_string(kGateSchema));
  if (baseline.trials.size() < kLeastSeedsOfGate)
    refuse("has " + std::to_string(baseline.trials.size()) + " seeds, the minimum is " + std::to_string(kLeastSeedsOfGate));
  return baseline;
}

}  // namespace backplane
