#include "cli/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/json_text.hpp"
#include "base/text_columns.hpp"
#include "store/batch_record.hpp"
#include "store/damage.hpp"
#include "store/plan_file.hpp"
#include "store/progress_file.hpp"
#include "store/results_folder.hpp"
#include "supervise/progress.hpp"
#include "supervise/recover.hpp"

namespace backplane {
namespace {

constexpr size_t kListedTrials = 50, kShownRules = 20;
constexpr int kOtherColumns = 2 + 18 + 2 + 5 + 2 + 4 + 2 + 16 + 1;  // "COMPLETED, stays" is the longest word of the last one

struct Estimate {
  std::optional<double> seconds_left;
  std::optional<uint64_t> memory_bytes;   // largest trial so far
  size_t from = 0;                        // finished trials
  std::optional<double> seconds_at_most;  // by report.max_time, where trials go on until their speed is known well
};

class DryRunText {
 public:
  DryRunText(const Plan& plan, const std::filesystem::path& out, Slots slots, const RunArgs& args)
      : plan_(plan),
        args_(args),
        names_(DisplayNames(plan)),
        consequences_(plan.base.experiment.on_failure),
        slots_(std::move(slots)) {
    if (!args.fresh) {
      record_ = ReadBatchRecord(ResultsFolder{out}.events());
      const std::filesystem::path last_plan = ResultsFolder{out}.plan();
      if (!args.accept_change && std::filesystem::exists(last_plan))
        changes_ = ChangedFiles(ReadPlanFile(last_plan), plan, record_);
    }
    for (const PlannedTrial& trial : plan.trials) {
      const TrialRecord* record = record_.Find(trial.id);
      damaged_.push_back(record != nullptr && !DamageOf(ResultsFolder{out}, *record).empty());
      grants_.push_back(GrantOf(trial));
    }
    at_once_ = AtOnce();
  }

  nlohmann::json Json() const {
    nlohmann::json trials = nlohmann::json::array(), dropped = nlohmann::json::array();
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      trials.push_back({{"trial_id", plan_.trials[i].id},
                        {"name", names_[i]},
                        {"seed", plan_.trials[i].seed},
                        {"values", Values(plan_.points[plan_.trials[i].point].values)},
                        {"phase", plan_.points[plan_.trials[i].point].phase},
                        {"after", plan_.IdBefore(plan_.trials[i])},
                        {"state", State(i)},
                        {"would_run", WouldRun(i)},
                        {"cores", grants_[i].cores.size()},
                        {"gpus", grants_[i].gpus}});
    }
    for (const DroppedPoint& point : plan_.dropped)
      dropped.push_back({{"values", Values(point.values)}, {"rule", point.rule}, {"why", point.why}});
    const Estimate estimate = Estimated();
    return {{"generated", plan_.generated},
            {"points", plan_.points.size()},
            {"trials", trials},
            {"dropped", dropped},
            {"at_once", at_once_},
            {"estimate",
             {{"seconds", OrNull(estimate.seconds_left)},
              {"memory_bytes", OrNull(estimate.memory_bytes)},
              {"from_trials", estimate.from},
              {"seconds_at_most", OrNull(estimate.seconds_at_most)}}}};
  }

  void Print() const {
    const std::string& name = plan_.base.experiment.name;
    fmt::print("{}: {} {}, {} {} ({} generated, {} dropped)\n", name, plan_.points.size(),
               plan_.points.size() == 1 ? "point" : "points", plan_.trials.size(),
               plan_.trials.size() == 1 ? "trial" : "trials", plan_.generated, plan_.dropped.size());
    if (!plan_.phases.empty())
      fmt::print("  {}, each from the end of the one before: {}\n", plan_.phases.size() == 1 ? "one phase" : "phases",
                 fmt::join(plan_.phases, ", "));
    PrintTrials();
    PrintDropped();
    fmt::print("  {} at once\n", at_once_ == 1 ? "1 trial" : fmt::format("{} trials", at_once_));
    PrintEstimate();
    if (!changes_.empty()) fmt::print("{}", FormatChanges(changes_));
    fmt::print("nothing was started\n");
  }

 private:
  template <class T>
  static nlohmann::json OrNull(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  }
  static nlohmann::json Values(const std::vector<std::pair<std::string, nlohmann::json>>& values) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [path, value] : values) json[path] = value;
    return json;
  }

  // What the trial would get if it started now, alone.
  Grant GrantOf(const PlannedTrial& trial) {
    const ResourceConfig resources = ResourcesOf(trial);
    const std::optional<Grant> grant = slots_.Take(resources, resources.exclusive);
    if (!grant) return {};
    slots_.Give(*grant);
    return *grant;
  }
  ResourceConfig ResourcesOf(const PlannedTrial& trial) const { return plan_.Load(trial).experiment.resources; }

  // As many of the first trials as there is room for.
  size_t AtOnce() {
    std::vector<Grant> taken;
    for (const PlannedTrial& trial : plan_.trials) {
      if (trial.after) continue;  // it waits for another one's end
      const ResourceConfig resources = ResourcesOf(trial);
      std::optional<Grant> grant = slots_.Take(resources, resources.exclusive);
      if (!grant) break;
      taken.push_back(std::move(*grant));
    }
    for (const Grant& grant : taken) slots_.Give(grant);
    return taken.size();
  }

  std::string State(size_t trial) const {
    const TrialRecord* record = record_.Find(plan_.trials[trial].id);
    const bool again = record != nullptr && (damaged_[trial] || consequences_.MayPassByNow(*record));
    return record == nullptr || again ? "PLANNED" : record->state;
  }

  bool WouldRun(size_t trial) const {
    const TrialRecord* record = record_.Find(plan_.trials[trial].id);
    const auto& before = plan_.trials[trial].after;
    if (before && State(trial) == "SKIPPED" && WouldRun(*before)) return true;
    if (args_.only_damaged) return damaged_[trial] || (record != nullptr && MeantByOnlyDamaged(*record));
    if (args_.only_failed) return record != nullptr && MeantByOnlyFailed(*record, *args_.only_failed);
    return !IsFinal(State(trial)) || (before && State(trial) == "SKIPPED" && State(*before) == "COMPLETED");
  }

  // The mean time of the trials that completed here, for those that are still to run.
  Estimate Estimated() const {
    Estimate estimate;
    double sum = 0;
    size_t left = 0;
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      left += WouldRun(i) ? 1 : 0;
      const TrialRecord* record = record_.Find(plan_.trials[i].id);
      if (record == nullptr || record->state != "COMPLETED") continue;
      const nlohmann::json& end = record->attempts.back().end_body;
      if (!end.contains("wall_s") || !end["wall_s"].is_number()) continue;
      sum += end["wall_s"].get<double>();
      estimate.memory_bytes = std::max(estimate.memory_bytes.value_or(0), end.value("peak_rss_bytes", uint64_t{0}));
      ++estimate.from;
    }
    const double rounds = static_cast<double>(left) / static_cast<double>(std::max<size_t>(at_once_, 1));
    if (estimate.from > 0) estimate.seconds_left = sum / static_cast<double>(estimate.from) * rounds;
    const ReportConfig& report = plan_.base.experiment.report;
    if (report.precision_pct && report.max_time_s && !plan_.trials.empty())
      estimate.seconds_at_most = *report.max_time_s / static_cast<double>(plan_.Load(plan_.trials.front()).seeds) * rounds;
    return estimate;
  }

  void PrintTrials() const {
    size_t width = 5;
    for (size_t i = 0; i < std::min(plan_.trials.size(), kListedTrials); ++i) width = std::max(width, names_[i].size());
    const Screen screen = DetectScreen(fileno(stdout));
    if (screen.live) width = std::min(width, static_cast<size_t>(std::max(screen.width, 80) - kOtherColumns));
    fmt::print("  {:<16}  {:<{}}  {:>5}  {:>4}  {}\n", "id", "trial", width, "cores", "gpus", "now");
    for (size_t i = 0; i < std::min(plan_.trials.size(), kListedTrials); ++i) {
      fmt::print("  {:<16}  {}  {:>5}  {:>4}  {}\n", plan_.trials[i].id,
                 PadRight(CutName(names_[i], width, screen.utf8), width), grants_[i].cores.size(), grants_[i].gpus.size(),
                 WouldRun(i) ? "would run" : State(i) + ", stays");
    }
    if (plan_.trials.size() > kListedTrials)
      fmt::print("  and {} more; --json lists all\n", plan_.trials.size() - kListedTrials);
  }

  void PrintDropped() const {
    std::map<std::string, std::pair<size_t, std::string>> rules;  // rule -> how many, a reason
    for (const DroppedPoint& point : plan_.dropped) {
      auto& [count, why] = rules[point.rule];
      ++count;
      if (why.empty()) why = point.why;
    }
    size_t shown = 0;
    for (const auto& [rule, found] : rules) {
      if (shown++ == kShownRules) break;
      fmt::print("  dropped by {}: {}{}\n", rule, found.first, found.second.empty() ? "" : " (such as: " + found.second + ")");
    }
  }

  void PrintEstimate() const {
    const Estimate estimate = Estimated();
    if (estimate.seconds_at_most)
      fmt::print("  time: at most {}, and for each trial its start and the iteration that runs when its time is over\n",
                 FormatClock(*estimate.seconds_at_most));
    if (!estimate.seconds_left) {
      fmt::print("  {}: unknown until a trial has finished here\n", estimate.seconds_at_most ? "memory" : "time and memory");
      return;
    }
    fmt::print("  time: about {} left, memory: up to {} MB a trial (from {} finished {})\n",
               FormatClock(*estimate.seconds_left), *estimate.memory_bytes / 1000000, estimate.from,
               estimate.from == 1 ? "trial" : "trials");
  }

  const Plan& plan_;
  const RunArgs& args_;
  std::vector<std::string> names_;  // [trials]
  const Consequences consequences_;
  Slots slots_;
  BatchRecord record_;
  std::vector<ChangedFile> changes_;
  std::vector<bool> damaged_;  // [trials] finished, and its files are not what they were
  std::vector<Grant> grants_;  // [trials]
  size_t at_once_ = 0;
};

}  // namespace

int DryRun(const Plan& plan, const std::filesystem::path& out, Slots slots, const RunArgs& args) {
  const DryRunText text(plan, out, std::move(slots), args);
  if (args.json) {
    std::printf("%s\n", JsonText(text.Json(), 1).c_str());
  } else {
    text.Print();
  }
  return kOk;
}

}  // namespace backplane
