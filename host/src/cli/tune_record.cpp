#include "cli/tune_record.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

json GainJson(const std::optional<Gain>& gain) {
  if (!gain) return nullptr;
  return {{"ratio", gain->ratio},
          {"low", gain->interval ? json(gain->interval->low) : json()},
          {"high", gain->interval ? json(gain->interval->high) : json()}};
}

json StepJson(const TuningStep& step) {
  json one = ToJson(step.change);
  one["before"] = OrNull(step.before);
  one["after"] = OrNull(step.after);
  one["gain"] = GainJson(step.gain);
  one["kept"] = step.kept;
  one["taken_back"] = step.taken_back;
  one["why"] = step.why;
  one["seconds"] = step.seconds;
  one["busy_machine"] = step.busy;
  return one;
}

json RoundJson(const LearningCheck::Round& round) {
  const auto& difference = round.learned.difference;
  json values = json::object();
  for (const auto& [path, value] : ValuesOf(round.kept)) values[path] = value;
  return {{"values", values},
          {"measure", round.scores.measure},
          {"direction", round.scores.direction},
          {"original", round.scores.original},
          {"tuned", round.scores.tuned},
          {"difference", difference ? json(difference->value) : json()},
          {"low", difference ? json(difference->low) : json()},
          {"high", difference ? json(difference->high) : json()},
          {"worse", round.learned.is_worse},
          {"speed", GainJson(round.speed)},
          {"missing", round.scores.why_missing}};
}

}  // namespace

void TuneRecord::Write() const {
  json steps = json::array();
  for (const StepTime& time : times) steps.push_back({{"seconds", time.seconds}, {"whole", time.whole}});
  WriteFileAtomic(
      file, JsonText({{"schema_version", kTuneSchema}, {"asked", asked}, {"times", steps}, {"result", result}}, 1) + "\n");
}

TuneRecord ReadTuneRecord(const std::filesystem::path& out) {
  TuneRecord record{out / "tune.json", {}, {}, {}};
  const std::optional<std::string> text = ReadFile(record.file);
  if (!text) return record;
  const json object = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !At(object, "times").is_array())
    throw std::runtime_error(record.file.string() + " is broken; --fresh moves the folder aside and starts anew");
  if (At(object, "schema_version") != kTuneSchema)
    throw std::runtime_error(fmt::format("{} has schema_version {}, wanted {}; --fresh moves the folder aside and starts anew",
                                         record.file.string(), At(object, "schema_version").dump(), kTuneSchema));
  record.asked = At(object, "asked");
  record.result = At(object, "result");
  for (const json& time : At(object, "times"))
    record.times.push_back({NumberOf(At(time, "seconds")).value_or(0), At(time, "whole") == true});
  return record;
}

std::string DifferenceOf(const json& asked, const json& now) {
  for (const auto& [key, value] : now.items()) {
    const json& before = At(asked, key.c_str());
    if (before == value) continue;
    if (!value.is_object() || !before.is_object()) return fmt::format("{}: {} then, {} now", key, before.dump(), value.dump());
    const std::string inner = DifferenceOf(before, value);
    return key + (inner.empty() ? "" : "." + inner);
  }
  return "";
}

json TuneJson(const Tuning& tuning, const LearningCheck* check, const std::string& measure,
              const std::filesystem::path& tuned) {
  json steps = json::array(), rounds = json::array();
  for (const TuningStep& step : tuning.steps) steps.push_back(StepJson(step));
  if (check) {
    for (const LearningCheck::Round& round : check->rounds) rounds.push_back(RoundJson(round));
  }
  return {{"for", measure},
          {"speed", OrNull(tuning.speed)},
          {"gained", tuning.Gained()},
          {"headroom", OrNull(tuning.headroom)},
          {"spent_s", tuning.spent_s},
          {"steps", steps},
          {"stopped", tuning.why_stopped},
          {"interrupted", tuning.interrupted || (check && check->interrupted)},
          {"failed", tuning.failed},
          {"check", check ? json{{"rounds", rounds}, {"none", check->why_none}} : json()},
          {"tuned", tuned.empty() ? json() : json(tuned.string())}};
}

}  // namespace backplane
