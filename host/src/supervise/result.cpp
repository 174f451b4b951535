#include "supervise/result.hpp"

#include "base/json_fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::optional<std::string> MaybeText(const json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<Spread> ParseSpread(const json& value) {
  const std::optional<double> mean = value.is_number() ? NumberOf(value) : NumberOf(At(value, "mean"));
  if (!mean) {
    return std::nullopt;
  }
  return Spread{*mean, NumberOf(At(value, "se")), CountOf(At(value, "n")).value_or(0)};
}

Measured ParseMeasured(const json& value) {
  Measured measured;
  measured.episode_return = ParseSpread(At(value, "return"));
  for (const auto& [name, metric] : At(value, "metrics").items()) {
    if (const std::optional<Spread> spread = ParseSpread(metric)) {
      measured.metrics[name] = *spread;
    }
  }
  return measured;
}

std::optional<Measured> MaybeMeasured(const json& value) {
  return value.is_object() ? std::optional(ParseMeasured(value)) : std::nullopt;
}

std::vector<PhaseShare> ParsePhases(const json& value) {
  std::vector<PhaseShare> phases;
  for (const json& phase : value.is_array() ? value : json::array()) {
    phases.push_back(
        {Text(At(phase, "name")), NumberOf(At(phase, "seconds")).value_or(0), NumberOf(At(phase, "share")).value_or(0)});
  }
  return phases;
}

}  // namespace

TrialResult ParseResult(const json& result) {
  TrialResult parsed;
  parsed.trial_id = Text(At(result, "trial_id"));
  parsed.state = Text(At(result, "state"));
  parsed.outcome = Text(At(result, "outcome"));
  parsed.error = MaybeText(At(result, "error"));
  parsed.iterations = NumberOf(At(result, "iterations"));
  parsed.env_steps = NumberOf(At(result, "env_steps"));
  parsed.epochs = NumberOf(At(At(result, "data"), "epochs"));
  parsed.episodes = NumberOf(At(result, "episodes"));
  parsed.wall_s = NumberOf(At(result, "wall_s"));
  parsed.trial_s = NumberOf(At(result, "trial_s"));
  parsed.sps = NumberOf(At(result, "sps"));
  parsed.sampling_sps = NumberOf(At(result, "sampling_sps"));
  parsed.training = ParseMeasured(result);
  parsed.evaluation = MaybeMeasured(At(result, "evaluation"));
  parsed.floor_zero = MaybeMeasured(At(result, "floor_zero"));
  parsed.floor_uniform = MaybeMeasured(At(result, "floor_uniform"));
  parsed.phases = ParsePhases(At(result, "phases"));
  parsed.unnamed_share = NumberOf(At(result, "unnamed_share"));
  parsed.checkpoint = MaybeText(At(result, "checkpoint"));
  parsed.signal = Text(At(result, "signal"));
  parsed.phase = Text(At(result, "phase"));
  parsed.plugin = Text(At(result, "plugin"));
  const json& log_tail = At(result, "log_tail");
  for (const json& line : log_tail.is_array() ? log_tail : json::array()) {
    parsed.log_tail.push_back(Text(line));
  }
  return parsed;
}

}  // namespace backplane
