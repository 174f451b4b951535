#include "contract/trial_spec.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error_words.hpp"
#include "base/files.hpp"

namespace backplane {

nlohmann::json ToJson(const TrialSpec& spec) {
  TrialFile file = spec;
  file.config = ToJson(spec.experiment);
  return ToJson(file);
}

TrialSpec TrialSpecFromJson(const nlohmann::json& json) try {
  TrialSpec spec{RecordFromJson<TrialFile>(json), {}};
  spec.experiment = ExperimentFromJson(std::exchange(spec.config, nullptr));
  spec.seeds = std::max<uint64_t>(1, spec.seeds);
  return spec;
} catch (const RecordError& e) {
  throw std::runtime_error(std::string("not a trial file: ") + e.what());
} catch (const nlohmann::json::exception& e) {
  throw std::runtime_error("not a trial file: " + WordsOf(e));
}

TrialSpec ReadTrialSpec(const std::filesystem::path& trial_json) {
  const auto text = ReadFile(trial_json);
  if (!text) throw std::runtime_error(trial_json.string() + " cannot be read");
  try {
    return TrialSpecFromJson(nlohmann::json::parse(*text));
  } catch (const std::exception& e) {
    throw std::runtime_error(trial_json.string() + ": " + WordsOf(e));
  }
}

}  // namespace backplane
