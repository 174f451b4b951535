#include "record/attempt_json.hpp"

#include <string>

#include "base/json_depth.hpp"
#include "base/json_fields.hpp"
#include "record/flat_json.hpp"

namespace backplane {

using nlohmann::json;

json ParseAttemptJson(std::string_view text) {
  return json::parse(IsNestedTooDeeply(text) ? "" : text, nullptr, /*allow_exceptions=*/false);
}

FileText ReadResultText(const std::filesystem::path& file) { return ReadRegularFile(file, kMaxResultBytes); }

std::optional<json> ParseResultJson(std::string_view text) {
  json result = ParseAttemptJson(text);
  return At(result, "state").is_string() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<json> ReadResultJson(const std::filesystem::path& file) {
  const FileText read = ReadResultText(file);
  return read.text ? ParseResultJson(*read.text) : std::nullopt;
}

TrialResult ReadResult(const AttemptFolder& attempt) {
  const std::string text = ReadResultText(attempt.result()).text.value_or("");
  FlatJsonReader reader;
  if (!reader.Read(text)) return ReadTolerantly<TrialResult>(ParseAttemptJson(text));
  TrialResult result;  // several times as fast, for folders of many trials
  record_detail::DecodeItem</*kTolerant=*/true>("", reader.root(), &result);
  return result;
}

void ForEachIteration(const std::filesystem::path& file, const std::function<void(const Iteration&)>& use) {
  std::ifstream stream = OpenStream(file);
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
    const json line = ParseAttemptJson(text);
    if (line.is_object()) use(ReadTolerantly<Iteration>(line));
  }
}

void ForEachIteration(const TrialFolder& trial, const std::vector<MetricsPart>& parts,
                      const std::function<void(const Iteration&)>& use) {
  for (const MetricsPart& part : parts) {
    uint64_t left = part.lines;
    ForEachIteration(trial.attempt(static_cast<unsigned>(part.attempt)).metrics(), [&](const Iteration& line) {
      if (left > 0) --left, use(line);
    });
  }
}

}  // namespace backplane
