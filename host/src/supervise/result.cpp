#include "supervise/result.hpp"

#include "base/files.hpp"
#include "base/json_fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::optional<std::string> MaybeText(const json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<Spread> ParseSpread(const json& value) {
  const std::optional<double> mean = value.is_number() ? Number(value) : Number(At(value, "mean"));
  if (!mean) {
    return std::nullopt;
  }
  return Spread{*mean, Number(At(value, "se")), static_cast<uint64_t>(Number(At(value, "n")).value_or(0))};
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
        {Text(At(phase, "name")), Number(At(phase, "seconds")).value_or(0), Number(At(phase, "share")).value_or(0)});
  }
  return phases;
}

}  // namespace

std::optional<json> ReadResultJson(const std::filesystem::path& file) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text) {
    return std::nullopt;
  }
  json result = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return At(result, "state").is_string() ? std::optional(std::move(result)) : std::nullopt;
}

TrialResult ParseResult(const json& result) {
  TrialResult parsed;
  parsed.trial_id = Text(At(result, "trial_id"));
  parsed.state = Text(At(result, "state"));
  parsed.outcome = Text(At(result, "outcome"));
  parsed.error = MaybeText(At(result, "error"));
  parsed.iterations = Number(At(result, "iterations"));
  parsed.env_steps = Number(At(result, "env_steps"));
  parsed.episodes = Number(At(result, "episodes"));
  parsed.wall_s = Number(At(result, "wall_s"));
  parsed.trial_s = Number(At(result, "trial_s"));
  parsed.sps = Number(At(result, "sps"));
  parsed.sampling_sps = Number(At(result, "sampling_sps"));
  parsed.training = ParseMeasured(result);
  parsed.evaluation = MaybeMeasured(At(result, "evaluation"));
  parsed.floor_zero = MaybeMeasured(At(result, "floor_zero"));
  parsed.floor_uniform = MaybeMeasured(At(result, "floor_uniform"));
  parsed.phases = ParsePhases(At(result, "phases"));
  parsed.unnamed_share = Number(At(result, "unnamed_share"));
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
