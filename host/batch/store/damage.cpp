#include "store/damage.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "base/in_parts.hpp"
#include "base/json_fields.hpp"
#include "record/attempt_files.hpp"
#include "record/attempt_json.hpp"
#include "record/flat_json.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kShownDigits = 12;

std::string Lines(uint64_t n) { return fmt::format("{} {}", n, n == 1 ? "line" : "lines"); }

// "no such file", "an empty file"; empty if it has content.
std::string Absence(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return "no such file";
  if (!S_ISREG(info.st_mode)) return "something other than a regular file";
  return info.st_size == 0 ? "an empty file" : "";
}

bool HasTrialFolders(const ResultsFolder& folder) {
  std::error_code error;
  const auto trials = std::filesystem::directory_iterator(folder.trials(), error);
  return !error && trials != std::filesystem::directory_iterator();
}

// The values of result.json that the other files have to match.
struct ResultValues {
  std::string state;
  json iterations;
  std::vector<MetricsPart> parts = {};

  static void Fields(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("iterations", DefaultIfMissing(self.iterations));
  }
};

// Absent unless `document`, by nlohmann or flat, is an object with a "state".
template <class Json>
std::optional<ResultValues> ValuesOf(const Json& document) {
  std::optional<ResultValues> values = RecordOrNothing<ResultValues>(document);
  if (values)
    values->parts = RecordOrNothing<MetricsRecord>(document).value_or(MetricsRecord()).metrics_parts.value_or(values->parts);
  return values;
}

std::optional<ResultValues> ValuesIn(const std::string& text) {
  FlatJsonReader reader;
  return reader.Read(text) ? ValuesOf(reader.root()) : ValuesOf(ParseAttemptJson(text));
}

// The attempts that led to the last one, by number, the last one first.
std::vector<unsigned> Chain(const TrialRecord& trial) {
  std::vector<unsigned> chain;
  for (size_t i = trial.attempts.size(); i-- > 0;) {
    chain.push_back(trial.attempts[i].number);
    if (!trial.attempts[i].start.resumed) break;
  }
  return chain;
}

class TrialCheck {
 public:
  TrialCheck(const ResultsFolder& folder, const TrialRecord& trial) : folder_(folder), trial_(trial) {}

  std::vector<Damage> Run() {
    if (trial_.attempts.empty()) return {};
    const AttemptRecord& last = trial_.attempts.back();
    const std::optional<AttemptFiles>& files = last.end.files;
    const std::optional<ResultValues> result = CheckResult(last.number, files);
    if (result) {
      CheckMetrics(last.number, *result);
    } else if (files) {
      CheckLines(last.number, files->metrics_lines);
    }
    return std::move(damage_);
  }

 private:
  std::filesystem::path Result(unsigned attempt) const { return folder_.attempt(trial_.id, attempt).result(); }
  std::filesystem::path Metrics(uint64_t attempt) const {
    return folder_.attempt(trial_.id, static_cast<unsigned>(attempt)).metrics();
  }
  void Add(const std::filesystem::path& file, std::string wanted, std::string found) {
    damage_.push_back({trial_.id, file, std::move(wanted), std::move(found)});
  }

  // Absent if it is damaged.
  std::optional<ResultValues> CheckResult(unsigned attempt, const std::optional<AttemptFiles>& files) {
    const std::filesystem::path file = Result(attempt);
    const FileText read = ReadResultText(file);
    const std::string text = read.text.value_or(""), absence = text.empty() ? Absence(file) : "";
    if (files && files->result) {
      const FileHash &wanted = *files->result, found = HashOf(text);
      const std::string bytes = fmt::format("{} bytes", wanted.bytes);
      if (!absence.empty()) return Add(file, bytes, absence), std::nullopt;
      if (!read.text) return Add(file, bytes, "one that " + read.why_not), std::nullopt;
      if (found.bytes != wanted.bytes) return Add(file, bytes, std::to_string(found.bytes)), std::nullopt;
      if (found.sha256 != wanted.sha256) {
        Add(file, "SHA-256 " + wanted.sha256.substr(0, kShownDigits), found.sha256.substr(0, kShownDigits));
        return std::nullopt;
      }
    }
    std::optional<ResultValues> result = ValuesIn(text);
    if (!result) Add(file, "the trial's result", absence.empty() ? "one that cannot be read" : absence);
    return result;
  }

  void CheckMetrics(unsigned attempt, const ResultValues& result) {
    const std::vector<MetricsPart>& parts = result.parts;
    uint64_t lines = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      CheckPart(parts[i], /*to_the_end=*/i + 1 == parts.size());
      lines += parts[i].lines;
    }
    const json& iterations = result.iterations;
    const std::optional<uint64_t> count = CountOf(iterations);
    if (iterations.is_number() && !count) return Add(Result(attempt), "a whole number of iterations", iterations.dump());
    const uint64_t wanted = count.value_or(0);
    // Some or all of it stems from an older version.
    if (damage_.empty() && lines < wanted) CheckIterations(wanted);
  }

  void CheckPart(const MetricsPart& wanted, bool to_the_end) {
    const std::filesystem::path file = Metrics(wanted.attempt);
    const MetricsPart found = ReadMetricsPart(file.parent_path(), to_the_end ? kWholeFile : wanted.bytes);
    const std::string absence = wanted.bytes > 0 && found.bytes == 0 ? Absence(file) : "";
    if (!absence.empty()) return Add(file, Lines(wanted.lines), absence);
    if (found.lines != wanted.lines) return Add(file, Lines(wanted.lines), std::to_string(found.lines));
    if (found.bytes != wanted.bytes) return Add(file, fmt::format("{} bytes", wanted.bytes), std::to_string(found.bytes));
    if (found.crc32c != wanted.crc32c)
      Add(file, fmt::format("{} of checksum {:08x}", Lines(wanted.lines), wanted.crc32c), fmt::format("{:08x}", found.crc32c));
  }

  void CheckLines(unsigned attempt, uint64_t wanted) {
    const std::filesystem::path file = Metrics(attempt);
    const std::string absence = Absence(file);
    if (wanted > 0 && !absence.empty()) return Add(file, Lines(wanted), absence);
    const uint64_t found = ReadMetricsPart(file.parent_path(), kWholeFile).lines;
    if (found != wanted) Add(file, Lines(wanted), std::to_string(found));
  }

  void CheckIterations(uint64_t wanted) {
    std::set<uint64_t> found;
    const std::vector<unsigned> chain = Chain(trial_);
    for (const unsigned attempt : chain) AddIterations(Metrics(attempt), &found);
    found.erase(0);  // iteration 0 is the evaluation at the start
    if (found.size() >= wanted) return;
    const std::string absence = Absence(Metrics(chain.front()));
    Add(Metrics(chain.front()), fmt::format("{} iterations", wanted) + (chain.size() > 1 ? ", including earlier attempts" : ""),
        found.empty() && !absence.empty() ? absence : std::to_string(found.size()));
  }

  static void AddIterations(const std::filesystem::path& file, std::set<uint64_t>* found) {
    ForEachIteration(file, [&](const Iteration& line) {
      if (line.iteration) found->insert(*line.iteration);
    });
  }

  const ResultsFolder& folder_;
  const TrialRecord& trial_;
  std::vector<Damage> damage_;
};

void Move(std::vector<Damage> found, std::vector<Damage>* all) {
  all->insert(all->end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

// In their order.
std::vector<Damage> DamageOfAll(const ResultsFolder& folder, const std::vector<const TrialRecord*>& trials) {
  constexpr size_t kWorthAThread = 100;
  std::vector<std::vector<Damage>> found(trials.size());
  InParts(trials.size(), kWorthAThread, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) found[i] = DamageOf(folder, *trials[i]);
  });
  std::vector<Damage> all;
  for (std::vector<Damage>& one : found) Move(std::move(one), &all);
  return all;
}

}  // namespace

std::string SentenceOf(const Damage& damage) {
  return damage.file.string() + ": expected " + damage.wanted + ", got " + damage.found;
}

std::vector<Damage> DamageOf(const ResultsFolder& folder, const TrialRecord& trial) {
  return IsFinished(trial.state) ? TrialCheck(folder, trial).Run() : std::vector<Damage>();
}

std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record) {
  std::vector<const TrialRecord*> trials;
  for (const auto& [id, trial] : record.trials) trials.push_back(&trial);
  return DamageOfAll(folder, trials);
}

std::vector<Damage> DamageOfRecords(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan) {
  if (!HasTrialFolders(folder)) return {};
  std::vector<Damage> all;
  const auto add = [&](const std::filesystem::path& file, const char* wanted) {
    const std::string absence = Absence(file);
    all.push_back({"", file, wanted, absence.empty() ? "none" : absence});
  };
  const auto is_trial = [](const PlanLine& line) { return !line.dropped; };
  if (std::none_of(plan.begin(), plan.end(), is_trial)) add(folder.plan(), "a line for each trial");
  if (record.last_seq == 0) add(folder.events(), "the events of the finished trials");
  return all;
}

std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan) {
  std::vector<Damage> all = DamageOfRecords(folder, record, plan);
  std::vector<const TrialRecord*> trials;
  for (const PlanLine& line : plan) {
    const TrialRecord* trial = line.dropped ? nullptr : record.Find(line.trial_id);
    if (trial != nullptr) trials.push_back(trial);
  }
  Move(DamageOfAll(folder, trials), &all);
  return all;
}

}  // namespace backplane
