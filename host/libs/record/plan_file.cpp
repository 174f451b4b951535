#include "record/plan_file.hpp"

#include <optional>
#include <stdexcept>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

PlanLine ParseLine(const std::string& text) {
  if (IsNestedTooDeeply(text)) throw std::runtime_error("it is nested too deeply");
  // Ordered: the first key of a sweep varies slowest, and a reader of tables wants them in that order.
  return RecordFromJson<PlanLine>(nlohmann::ordered_json::parse(text));
}

}  // namespace

void WritePlanFile(const std::filesystem::path& file, const std::vector<PlanLine>& lines) {
  std::string text;
  for (const PlanLine& line : lines) text += JsonText(ToJson<nlohmann::ordered_json>(line)) + "\n";
  WriteFileAtomic(file, text);
}

std::vector<PlanLine> ReadPlanFile(const std::filesystem::path& file) {
  std::ifstream stream = OpenStream(file);
  if (!stream) {
    throw std::runtime_error("cannot read " + file.string());
  }
  std::vector<PlanLine> lines;
  for (std::string text; std::getline(stream, text);) {
    try {
      lines.push_back(ParseLine(text));
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ":" + std::to_string(lines.size() + 1) +
                               ": neither a trial nor a dropped point: " + WordsOf(error));
    }
  }
  return lines;
}

std::string DisplayName(const PlanLine& trial, bool several_seeds) {
  const std::string seed = "seed=" + std::to_string(trial.seed);
  return trial.name.empty() ? seed : several_seeds ? trial.name + " " + seed : trial.name;
}

bool HasSeveralSeeds(const std::vector<PlanLine>& plan) {
  std::optional<uint64_t> first;
  for (const PlanLine& line : plan) {
    if (!line.dropped && line.seed != first.value_or(line.seed)) {
      return true;
    }
    first = line.dropped ? first : line.seed;
  }
  return false;
}

}  // namespace backplane
