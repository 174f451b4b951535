#include "study/tune_record.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

struct TuneFile {
  int schema_version = kTuneSchema;
  json asked;
  std::vector<StepTime> times;
  json result;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema_version", self.schema_version);
    if (self.schema_version != kTuneSchema)
      throw RecordError(fmt::format("schema_version: expected {}, got {}", kTuneSchema, self.schema_version));
    visit("asked", DefaultIfMissing(self.asked));
    visit("times", self.times);
    visit("result", DefaultIfMissing(self.result));
  }
};

struct CheckAnswer {
  std::vector<LearningCheck::Round> rounds;
  std::string none;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("rounds", self.rounds);
    visit("none", self.none);
  }
};

struct TuneAnswer {
  std::string measure;
  std::optional<double> speed;
  double gained = 1;
  std::optional<double> headroom;
  double spent_s = 0;
  std::vector<TuningStep> steps;
  std::string stopped;
  bool interrupted = false;
  std::string failed;
  std::optional<CheckAnswer> check;
  std::optional<std::filesystem::path> tuned;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("for", self.measure);
    visit("speed", NullIfAbsent(self.speed));
    visit("gained", self.gained);
    visit("headroom", NullIfAbsent(self.headroom));
    visit("spent_s", self.spent_s);
    visit("steps", self.steps);
    visit("stopped", self.stopped);
    visit("interrupted", self.interrupted);
    visit("failed", self.failed);
    visit("check", NullIfAbsent(self.check));
    visit("tuned", NullIfAbsent(self.tuned));
  }
};

}  // namespace

void TuneRecord::Write() const {
  WriteFileAtomic(file, JsonText(ToJson(TuneFile{kTuneSchema, asked, times, result}), 1) + "\n");
}

TuneRecord ReadTuneRecord(const std::filesystem::path& out) {
  TuneRecord record{out / "tune.json", {}, {}, {}};
  const std::optional<std::string> text = ReadFile(record.file);
  if (!text) return record;
  try {
    TuneFile read = RecordFromJson<TuneFile>(json::parse(*text, nullptr, /*allow_exceptions=*/false));
    record.asked = std::move(read.asked);
    record.times = std::move(read.times);
    record.result = std::move(read.result);
    return record;
  } catch (const RecordError& error) {
    throw std::runtime_error(fmt::format("{} is broken: {}\nhint: --fresh moves the folder aside and starts from scratch",
                                         record.file.string(), WordsOf(error)));
  }
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
  TuneAnswer answer{measure,
                    tuning.speed,
                    tuning.Gained(),
                    tuning.headroom,
                    tuning.spent_s,
                    tuning.steps,
                    tuning.why_stopped,
                    tuning.interrupted,
                    tuning.failed,
                    {},
                    {}};
  if (check) {
    answer.interrupted |= check->interrupted;
    answer.check = CheckAnswer{check->rounds, check->why_none};
  }
  if (!tuned.empty()) answer.tuned = tuned;
  return ToJson(answer);
}

}  // namespace backplane
