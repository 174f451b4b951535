#include "command/report_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/printable.hpp"
#include "log/log.hpp"
#include "record/metric_series.hpp"
#include "record/warning_text.hpp"
#include "trial/checkpoint_folder.hpp"

namespace backplane {
namespace {

// The same limits as for plugins.
constexpr size_t kMostNames = 10'000, kMostNameBytes = 256;
// Values kept for the final summary: enough for the last tenth of ten times as many.
constexpr size_t kMostKept = 1 << 20;
constexpr size_t kMostWarnings = 20, kShownName = 64;

Spread MeanAlone(double value) {
  Spread spread;
  spread.mean = value;
  return spread;
}

Spread One(double value) {
  Spread spread = MeanAlone(value);
  spread.n = 1;
  return spread;
}

constexpr std::string_view kEval = "eval/";

void PutEvaluation(const std::string& name, const Spread& spread, EpisodeMeans* means) {
  const std::string of_evaluation = name.substr(kEval.size());
  if (of_evaluation == "return") {
    means->episode_return = spread;
  } else {
    means->metrics[of_evaluation] = spread;
  }
}

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// The host writes these names in every line itself. The command's metrics get other ones.
bool IsOfTheHost(const std::string& name) { return name == "t" || name == "iteration_s"; }
std::string NameInLine(const std::string& name) { return IsOfTheHost(name) ? "reported/" + name : name; }

std::filesystem::path TrialDirOf(const TrialSpec& spec) { return spec.checkpoint_dir.parent_path(); }

}  // namespace

void ReportBook::Values::Add(double value) {
  if (kept.size() >= kMostKept) kept.erase(kept.begin(), kept.begin() + kMostKept / 2);
  kept.push_back(value);
  ++n;
}

std::vector<double> ReportBook::Values::LastOnes(uint64_t count) const {
  return {kept.end() - static_cast<ptrdiff_t>(std::min<uint64_t>(count, kept.size())), kept.end()};
}

Spread ReportBook::Values::OfTheFinite() const {
  std::vector<double> last = LastOnes(FiniteTail::Window(n));
  const size_t all = last.size();
  std::erase_if(last, [](double value) { return !std::isfinite(value); });
  if (!last.empty()) return Summarise(last);
  Spread none = MeanAlone(std::nan(""));
  none.n = all;  // marks it as reported, otherwise it would count as not measured
  return none;
}

// The window has at least 3 values, so that some remain without the non-finite ones.
Spread ReportBook::Values::LastTenth() const {
  if (!AllFinite(LastOnes(FiniteTail::Window(n)))) return OfTheFinite();
  return MeanAlone(*Summarise(LastOnes(std::max<uint64_t>(1, n / 10))).mean);
}

Spread ReportBook::Values::Last() const { return std::isfinite(kept.back()) ? MeanAlone(kept.back()) : OfTheFinite(); }

ReportBook::ReportBook(const TrialSpec& spec, StatusWriter* status)
    : spec_(spec), status_(*status), file_(AttemptFolder(spec.attempt_dir).metrics(), spec.attempt) {
  status_.NameLive(spec.experiment.live);
  if (!spec.resume) return;
  join_.emplace(TrialDirOf(spec), spec.attempt);
  clock_.GoOnFrom(join_->before().trial_s());
}

// Writes the reports that were held until now.
void ReportBook::Join() {
  if (!join_) return;
  join_->Decide();
  const LinesBefore& before = join_->before();
  before_s_ = before.trial_s();
  clock_.GoOnFrom(before_s_);
  has_lines_before_ = !before.empty();
  if (!join_->warning().empty()) Warn(join_->warning());
  if (join_->rewrites()) {
    WriteJoined(*join_);
  } else {
    reports_ = before.reports();
    parts_before_ = before.Parts();
    before.ForEachKept([&](const std::string& name, double value) { Keep(name, value); });
  }
  step_ = before.step();
  const std::vector<HeldReport> held = join_->held();
  const size_t first = join_->rewrites() ? join_->first_own() : 0;
  join_.reset();
  for (size_t i = first; i < held.size(); ++i) Write(held[i]);
}

// The attempt's file starts with the lines of earlier attempts, so it replaces theirs.
void ReportBook::WriteJoined(const CurveJoin& join) {
  std::vector<Iteration> lines = join.Lines([this](const HeldReport& held) { return LineOf(held); });
  for (Iteration& line : lines) {
    line.iteration = ++reports_;
    for (const MetricValue& one : ReportedValues(line))
      if (IsOfEpisodes(one.name) || DecidesDivergence(one.name)) Keep(one.name, one.value);
  }
  file_.AppendAll(lines);
}

Spent ReportBook::SpentNow() const {
  const uint64_t reports = join_ ? join_->before().reports() : reports_;
  return {reports, step_.value_or(0), clock_.trial_s(), 0};
}

void ReportBook::Add(const Report& report) {
  const HeldReport held{report, clock_.attempt_s()};
  if (!join_) return Write(held);
  if (join_->Add(held.report, held.attempt_s)) Join();
}

Iteration ReportBook::LineOf(const HeldReport& held) {
  if (held.report.step) step_ = held.report.step;
  Iteration line;
  for (const auto& [reported, value] : held.report.values) {
    const std::string name = NameInLine(reported);
    if (!Takes(name)) continue;
    Put(name, value, &line);
    if (name != reported)
      Warn(fmt::format("the command reports '{}': recorded as '{}', because the host measures '{}' itself", reported, name,
                       reported));
  }
  line.step = step_;
  line.episodes = episodes_;
  line.time.t = before_s_ + held.attempt_s;
  line.time.iteration_s = held.attempt_s - std::exchange(last_s_, held.attempt_s);
  return line;
}

void ReportBook::Write(const HeldReport& held) {
  const std::optional<uint64_t> step_before = step_;
  const double before_s = last_s_;
  Iteration line = LineOf(held);
  for (const auto& [name, value] : held.report.values)
    if (names_.contains(NameInLine(name))) Keep(NameInLine(name), value);
  line.iteration = ++reports_;
  AddSpeed(before_s, step_before, &line);
  file_.Append(line);
  Show(line);
}

// A speed that the command reports itself takes precedence.
void ReportBook::AddSpeed(double before_s, const std::optional<uint64_t>& step_before, Iteration* line) {
  if (!step_) return;
  last_step_ = Place{last_s_, *step_};
  if (!first_step_) first_step_ = last_step_;
  const bool grew = step_before && *step_ > *step_before && last_s_ > before_s;
  if (!line->time.sps && grew) line->time.sps = static_cast<double>(*step_ - *step_before) / (last_s_ - before_s);
}

void ReportBook::Keep(const std::string& name, double value) {
  names_[name].Add(value);
  if (IsOfEpisodes(name)) of_episodes_[name].Add(value);
}

void ReportBook::Warn(const std::string& sentence) {
  if (warnings_.size() >= kMostWarnings || std::find(warnings_.begin(), warnings_.end(), sentence) != warnings_.end()) return;
  warnings_.push_back(sentence);
  LogWarning("warning: {}", WarningOnOneLine(sentence));
  status_.SetLine("warning: " + WarningKind(sentence));
}

bool ReportBook::Takes(const std::string& name) {
  if (names_.contains(name)) return true;
  const auto refuse = [&](const std::string& why) {
    const std::string warning = fmt::format("the command reports '{}': {}", Printable(name, kShownName), why);
    Warn(warning);
    return false;
  };
  const bool is_line = std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (name.empty() || name.size() > kMostNameBytes || !is_line)
    return refuse(fmt::format("expected a metric name of one line and 1 to {} bytes", kMostNameBytes));
  if (names_.size() >= kMostNames) return refuse(fmt::format("expected at most {} metrics, got one more", kMostNames));
  names_.try_emplace(name);
  return true;
}

void ReportBook::Put(const std::string& name, double value, Iteration* line) {
  const auto whole = [&] { return value >= 0 && value < 0x1p63 ? std::optional(static_cast<uint64_t>(value)) : std::nullopt; };
  if (name == "SPS" || name == "sps") {
    line->time.sps = value;
    if (!std::isfinite(value)) return;
    if (std::exchange(told_first_, true)) {
      told_sps_.value += value, ++told_sps_.n;
    } else {
      first_told_sps_ = value;
    }
  } else if (name == "sampling_sps") {
    line->time.sampling_sps = value;
  } else if (name == "env_steps") {
    if (const auto steps = whole()) step_ = steps;
  } else if (name == "episodes") {
    if (const auto episodes = whole()) episodes_ = episodes;
  } else if (IsOfEpisodes(name)) {
    PutOfEpisodes(name, value, line);
  } else {
    line->metrics[name] = value;
  }
}

void ReportBook::PutOfEpisodes(const std::string& name, double value, Iteration* line) {
  if (name == "return") {
    line->episode_return = One(value);
  } else if (!name.starts_with(kEval)) {
    if (!line->ep) line->ep.emplace();
    (*line->ep)[name] = One(value);
  } else {
    if (!line->eval) line->eval.emplace();
    PutEvaluation(name, One(value), &*line->eval);
  }
}

void ReportBook::Show(const Iteration& line) {
  StatusFile& status = status_.data();
  status.iteration = reports_;
  status.env_steps = step_.value_or(0);
  status.episodes = episodes_.value_or(0);
  status.progress = Progress(spec_.experiment.budget, SpentNow());
  status.sps = line.time.sps.value_or(status.sps);
  if (line.episode_return) status.episode_return = *line.episode_return->mean;
  if (spec_.experiment.live.empty()) return;
  for (const MetricValue& value : MetricSeries(line)) status_.SetLive(value.name, value.value);
}

std::string ReportBook::Divergence() const {
  for (const auto& [name, tail] : names_)
    if (DecidesDivergence(name) && tail.diverged())
      return fmt::format("diverged: '{}' was finite before, but is NaN or infinite in its last {} of {} reports",
                         Printable(name, kShownName), std::min(FiniteTail::Window(tail.values()), tail.values()),
                         tail.values());
  return "";
}

std::vector<std::string> ReportBook::warnings() const {
  std::vector<std::string> all = warnings_;
  for (const auto& [name, tail] : names_) {
    const bool is_followed = !has_lines_before_ || IsOfEpisodes(name) || DecidesDivergence(name);
    if (tail.values() > 0 && !tail.was_finite() && is_followed && all.size() < kMostWarnings)
      all.push_back(fmt::format("metric '{}' never had a finite value, so it has no result\n({} reports)",
                                Printable(name, kShownName), tail.values()));
  }
  return all;
}

LoopResult ReportBook::Result() const {
  LoopResult result;
  result.iterations = join_ ? join_->before().reports() : reports_;
  result.env_steps = step_;
  result.episodes = episodes_;
  result.wall_s = clock_.attempt_s();
  result.trial_s = clock_.trial_s();
  if (told_sps_.n > 0) {
    result.sps = told_sps_.value / static_cast<double>(told_sps_.n);
  } else if (first_told_sps_) {
    result.sps = first_told_sps_;
  } else if (first_step_ && last_step_->s > first_step_->s && last_step_->step > first_step_->step) {
    result.sps = static_cast<double>(last_step_->step - first_step_->step) / (last_step_->s - first_step_->s);
  }
  for (const auto& [name, values] : of_episodes_) {
    if (name == "return") {
      result.training.episode_return = values.LastTenth();
    } else if (!name.starts_with(kEval)) {
      result.training.metrics[name] = values.LastTenth();
    } else {
      if (!result.evaluation) result.evaluation.emplace();
      PutEvaluation(name, values.Last(), &*result.evaluation);
    }
  }
  result.metrics_parts = join_ ? join_->before().Parts() : parts_before_;
  result.metrics_parts->push_back(file_.written());
  return result;
}

}  // namespace backplane
