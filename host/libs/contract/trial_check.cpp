#include "contract/trial_check.hpp"

#include <nlohmann/json.hpp>

namespace backplane {

std::string CheckBegins(const std::string& trial_id) { return "checking " + trial_id; }

std::filesystem::path CheckedBefore(const std::filesystem::path& folder, const std::string& trial_id) {
  return folder / ("before-" + trial_id + ".json");
}

std::optional<TrialCheck> TrialCheckFromLine(const std::string& line) {
  return RecordOrNothing<TrialCheck>(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false));
}

}  // namespace backplane
