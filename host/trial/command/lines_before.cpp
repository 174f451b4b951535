#include "command/lines_before.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "record/attempt_json.hpp"

namespace backplane {
namespace {

bool AreSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::vector<MetricValue> ReportedValues(const Iteration& line) {
  std::vector<MetricValue> values = MetricSeries(line);
  std::erase_if(values,
                [](const MetricValue& one) { return one.of != MetricValue::Of::kExperiment || one.name == "episodes"; });
  return values;
}

bool DecidesDivergence(std::string_view name) {
  return name == "return" || name == "eval/return" || name == "loss" || name.ends_with("/loss") || name.ends_with("_loss");
}

LinesBefore::LinesBefore(const std::filesystem::path& trial_dir, uint64_t attempt) : trial_dir_(trial_dir) {
  for (uint64_t number = 1; number < attempt; ++number) ReadAttempt(number);
}

void LinesBefore::ReadAttempt(uint64_t number) {
  std::ifstream stream = OpenStream(TrialFolder{trial_dir_}.attempt(static_cast<unsigned>(number)).metrics());
  uint64_t bytes = 0;
  bool first = true;
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
    const uint64_t begin = std::exchange(bytes, bytes + text.size() + 1);
    const auto read = ReadTolerantly<Iteration>(ParseAttemptJson(text));
    const uint64_t report = read.iteration.value_or(0);
    if (std::exchange(first, false)) {
      // The attempt resumed at this report, or started from scratch.
      std::erase_if(lines_, [&](const Line& line) { return line.report >= report; });
      part_ = std::min(part_, lines_.size());
      if (part_ < lines_.size() && read.step && read.step <= lines_[part_].step) part_ = lines_.size();
    }
    lines_.push_back({number, report, read.step, read.time.t.value_or(0), begin, bytes});
    for (const MetricValue& one : MetricSeries(read))
      if (IsOfEpisodes(one.name) || DecidesDivergence(one.name)) lines_.back().kept.emplace_back(one.name, one.value);
    Count(read);
  }
}

void LinesBefore::Count(const Iteration& line) {
  for (const MetricValue& one : ReportedValues(line)) {
    Use& use = uses_[one.name];
    if (use.lines++ == 0) {
      use.first = one.value;
    } else {
      use.moves = use.moves || use.last_step != line.step || !line.step;
      use.varies = use.varies || !AreSame(use.first, one.value);
    }
    use.last_step = line.step;
  }
}

const std::set<std::string>& LinesBefore::MainMetrics() {
  if (main_) return *main_;
  main_.emplace();
  const bool any_moves = std::ranges::any_of(uses_, [](const auto& entry) { return entry.second.moves; });
  uint64_t most = 0;
  std::optional<uint64_t> last_step;
  for (const auto& [name, use] : uses_) {
    if (use.moves) most = std::max(most, use.lines);
    last_step = std::max(last_step, use.last_step);
  }
  for (const auto& [name, use] : uses_)
    if (any_moves ? use.moves && 2 * use.lines >= most : use.last_step == last_step) main_->insert(name);
  return *main_;
}

std::optional<Iteration> LinesBefore::FirstMainLine() {
  for (size_t i = part_; i < lines_.size(); ++i) {
    Iteration line = Read(lines_[i]);
    const auto is_main = [&](const MetricValue& one) { return MainMetrics().contains(one.name); };
    if (MainMetrics().empty() || std::ranges::any_of(ReportedValues(line), is_main)) return line;
  }
  return std::nullopt;
}

bool LinesBefore::KeepBefore(uint64_t step) {
  const auto part = lines_.begin() + static_cast<ptrdiff_t>(part_);
  const auto is_lost = [&](const Line& line) { return line.step.value_or(0) >= step; };
  const auto first = std::find_if(part, lines_.end(), is_lost);
  const bool are_last = std::all_of(first, lines_.end(), is_lost);
  lines_.erase(std::remove_if(first, lines_.end(), is_lost), lines_.end());
  return are_last;
}

size_t LinesBefore::CountEqual(const std::map<std::string, double>& values, const Iteration& line, size_t* compared) const {
  size_t equal = 0;
  for (const MetricValue& one : ReportedValues(line)) {
    const auto found = values.find(one.name);
    if (found == values.end() || !Varies(one.name)) continue;
    ++*compared;
    equal += AreSame(std::isfinite(found->second) ? found->second : std::nan(""), one.value);
  }
  return equal;
}

void LinesBefore::KeepBeforeRepeated(const std::map<std::string, double>& values) {
  std::optional<size_t> repeated;
  for (size_t i = part_; i < lines_.size(); ++i) {
    size_t compared = 0;
    const size_t equal = CountEqual(values, Read(lines_[i]), &compared);
    if (compared == 0 || equal < compared) continue;
    if (repeated) return;
    repeated = i;
  }
  if (repeated) lines_.resize(*repeated);
}

double LinesBefore::trial_s() const {
  double latest = 0;
  for (const Line& line : lines_) latest = std::max(latest, line.trial_s);
  return latest;
}

std::vector<MetricsPart> LinesBefore::Parts() const {
  std::vector<MetricsPart> parts;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (i + 1 < lines_.size() && lines_[i + 1].attempt == line.attempt) continue;
    parts.push_back(ReadMetricsPart(TrialFolder{trial_dir_}.attempt(static_cast<unsigned>(line.attempt)), line.end_bytes));
    parts.back().attempt = line.attempt;
  }
  return parts;
}

Iteration LinesBefore::Read(const Line& line) const {
  std::ifstream stream = OpenStream(TrialFolder{trial_dir_}.attempt(static_cast<unsigned>(line.attempt)).metrics());
  stream.seekg(static_cast<std::streamoff>(line.begin_bytes));
  std::string text;
  std::getline(stream, text);
  return ReadTolerantly<Iteration>(ParseAttemptJson(text));
}

std::vector<Iteration> LinesBefore::InOrderOfSteps() const {
  std::vector<Iteration> lines;
  lines.reserve(lines_.size());
  for (const Line& line : lines_) lines.push_back(Read(line));
  const auto part = lines.begin() + static_cast<ptrdiff_t>(std::min(part_, lines.size()));
  std::stable_sort(part, lines.end(), [](const Iteration& a, const Iteration& b) { return a.step < b.step; });
  return lines;
}

}  // namespace backplane
