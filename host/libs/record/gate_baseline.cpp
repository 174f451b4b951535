#include "record/gate_baseline.hpp"

#include <stdexcept>

#include "base/files.hpp"

namespace backplane {

GateBaseline ReadGateBaseline(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(file.string() + ": " + why + "; wanted a baseline, which `gate save` writes");
  };
  const std::optional<std::string> text = ReadFile(file);
  if (!text) refuse(std::filesystem::exists(file) ? "is no regular file" : "is not there");
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) refuse("is no JSON object");
  GateBaseline baseline;
  try {
    baseline = RecordFromJson<GateBaseline>(json);
  } catch (const RecordError& error) {
    refuse(error.what());
  }
  if (baseline.schema != kGateSchema)
    refuse("is of schema " + std::to_string(baseline.schema) + ", this program reads " + std::to_string(kGateSchema));
  if (baseline.trials.size() < kLeastSeedsOfGate)
    refuse("has " + std::to_string(baseline.trials.size()) + " seeds and not " + std::to_string(kLeastSeedsOfGate) +
           " or more");
  return baseline;
}

}  // namespace backplane
