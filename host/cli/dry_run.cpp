#include "cli/dry_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "base/text_columns.hpp"
#include "batch/opening.hpp"
#include "batch/recover.hpp"
#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "screen/eta.hpp"
#include "screen/progress.hpp"
#include "store/damage.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

constexpr size_t kListedTrials = 50, kShownRules = 20;
constexpr size_t kIdColumns = 18, kGrantColumns = 13, kNowColumns = 20;  // with the gaps before them, the last with the name's
constexpr size_t kAnyWidth = 1 << 16;

struct Estimate {
  std::optional<double> seconds_left;
  std::optional<uint64_t> memory_bytes;   // largest trial so far
  size_t from = 0;                        // finished trials
  std::optional<double> seconds_at_most;  // by report.max_time, if trials run until their speed is precise

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("seconds", NullIfAbsent(self.seconds_left));
    visit("memory_bytes", NullIfAbsent(self.memory_bytes));
    visit("from_trials", self.from);
    visit("seconds_at_most", NullIfAbsent(self.seconds_at_most));
  }
};

using SweptValues = std::vector<std::pair<std::string, nlohmann::json>>;

// What `run --dry-run --json` prints.
struct TrialPreview {
  std::string trial_id, name;
  uint64_t seed = 0;
  SweptValues values;
  std::string stage, after;
  TrialState state = TrialState::kPlanned;
  bool would_run = false;
  size_t cores = 0;
  std::vector<std::string> gpus;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("trial_id", self.trial_id);
    visit("name", self.name);
    visit("seed", self.seed);
    visit("values", self.values);
    visit("phase", self.stage);
    visit("after", self.after);
    visit("state", self.state);
    visit("would_run", self.would_run);
    visit("cores", self.cores);
    visit("gpus", self.gpus);
  }
};

struct DroppedPreview {
  SweptValues values;
  std::string rule, why;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("values", self.values);
    visit("rule", self.rule);
    visit("why", self.why);
  }
};

struct PlanPreview {
  size_t generated = 0, points = 0;
  std::vector<TrialPreview> trials;
  std::vector<DroppedPreview> dropped;
  size_t to_come = 0;  // trials that a search will add, at most
  size_t at_once = 0;
  Estimate estimate;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("generated", self.generated);
    visit("points", self.points);
    visit("trials", self.trials);
    visit("dropped", self.dropped);
    visit("to_come", LeftOutIfEmpty(self.to_come));
    visit("at_once", self.at_once);
    visit("estimate", self.estimate);
  }
};

// A session first ends the attempts of an earlier one, so trials that seem to run are still to do.
BatchRecord WithoutRunning(BatchRecord record) {
  for (auto& [id, trial] : record.trials)
    if (trial.state == TrialState::kRunning) trial.state = TrialState::kPlanned;
  return record;
}

class DryRunText {
 public:
  DryRunText(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args)
      : plan_(plan),
        args_(args),
        names_(DisplayNames(plan)),
        failure_policy_(plan.base.experiment.on_failure),
        schedule_(plan),
        resource_pool_(std::move(resource_pool)) {
    if (!args.fresh) {
      record_ = ReadBatchRecord(ResultsFolder{out}.events());
      const std::filesystem::path last_plan = ResultsFolder{out}.plan();
      if (std::filesystem::exists(last_plan)) {
        const std::vector<PlanLine> before = ReadPlanFile(last_plan);
        if (!args.accept_change) changes_ = ChangedFiles(before, plan, record_);
        const auto anew = ChangedUnderStopped(out, before, plan, record_);
        const auto file_of = [&](const ChangedFile& change) { return FileAt(plan, change); };
        if (changes_.empty() && !anew.empty()) begun_anew_ = SayBegunAnew(out, anew, file_of);
      }
    }
    ChangedStates damaged;
    for (size_t i = 0; i < plan.trials.size(); ++i) {
      const TrialRecord* record = record_.Find(plan.trials[i].id);
      damaged_.push_back(record != nullptr && !DamageOf(ResultsFolder{out}, *record).empty());
      if (damaged_[i]) damaged.push_back({i, {TrialState::kPlanned, "damaged", StateReason::kDamaged}});
      allocations_.push_back(AllocationOf(plan.trials[i]));
    }
    const RunOnly only{args.only_failed, args.only_pruned, args.only_damaged, args.stage};
    if (!only.any() && !args.fresh) extended_ = FollowBudgets(out, plan, record_, &damaged);
    OpenSchedule(plan, WithoutRunning(record_), only, failure_policy_, names_, std::move(damaged), &schedule_);
    at_once_ = AtOnce();
  }

  nlohmann::json Json() const {
    PlanPreview preview{plan_.generated, plan_.points.size(), {}, {}, ToCome(), at_once_, Estimated()};
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const PlannedTrial& trial = plan_.trials[i];
      const PlannedPoint& point = plan_.points[trial.point];
      preview.trials.push_back({trial.id, names_[i], trial.seed, point.values, point.stage, plan_.IdBefore(trial), State(i),
                                WouldRun(i), allocations_[i].cores.size(), allocations_[i].gpus});
    }
    for (const DroppedPoint& point : plan_.dropped) preview.dropped.push_back({point.values, point.rule, point.why});
    return ToJson(preview);
  }

  void Print() const {
    const std::string& name = plan_.base.experiment.name;
    Say("", plan_.search ? SearchLine()
                         : fmt::format("{}: {} {}, {} {} ({} generated, {} dropped)", name, plan_.points.size(),
                                       plan_.points.size() == 1 ? "point" : "points", plan_.trials.size(),
                                       plan_.trials.size() == 1 ? "trial" : "trials", plan_.generated, plan_.dropped.size()));
    if (!plan_.stages.empty())
      Say("  ", fmt::format("{}, each resuming from the one before: {}", plan_.stages.size() == 1 ? "one stage" : "stages",
                            fmt::join(plan_.stages, ", ")));
    if (!plan_.trials.empty() || !plan_.search) PrintTrials();
    PrintDropped();
    fmt::print("  {} at the same time\n", at_once_ == 1 ? "1 trial" : fmt::format("{} trials", at_once_));
    PrintEstimate();
    if (!changes_.empty()) fmt::print("{}", FormatChanges(changes_));
    for (const std::string& sentence : {begun_anew_, extended_})
      if (!sentence.empty()) fmt::print("{}\n", sentence);
    fmt::print("nothing was started\n");
  }

 private:
  // The trial's allocation if it started now, with no other trial.
  Allocation AllocationOf(const PlannedTrial& trial) {
    const ResourceConfig resources = ResourcesOf(trial);
    const std::optional<Allocation> allocation = resource_pool_.Take(resources, resources.exclusive);
    if (!allocation) return {};
    resource_pool_.Give(*allocation);
    return *allocation;
  }
  ResourceConfig ResourcesOf(const PlannedTrial& trial) const { return plan_.ExperimentOf(trial.point).resources; }

  // "walk: search with tpe for the best eval/return: 40 trials, then 15 that repeat the best 3 with fresh seeds; 28 to
  // come"
  std::string SearchLine() const {
    const SearchTerms& terms = *plan_.search;
    std::string line = fmt::format("{}: search with {} for the best {}: {} trials{}", plan_.base.experiment.name, terms.method,
                                   terms.metric, terms.trials, terms.Prunes() ? ", weak ones are pruned" : "");
    if (terms.confirm_top > 0)
      line += fmt::format(", then {} that repeat the best {} with fresh seeds", terms.confirm_top * terms.confirm_seeds,
                          terms.confirm_top);
    return line + fmt::format("; {} to come", ToCome());
  }

  size_t ToCome() const {
    if (!plan_.search || args_.only_failed || args_.only_damaged || args_.only_pruned) return 0;
    const Plan& probes = plan_.Checked();
    const size_t seeds = probes.trials.size() / std::max<size_t>(probes.points.size(), 1);
    const size_t all = plan_.search->trials * seeds + plan_.search->confirm_top * plan_.search->confirm_seeds;
    return all - std::min(all, plan_.trials.size());
  }

  // As many of the first trials as there is room for.
  size_t AtOnce() {
    std::vector<Allocation> taken;
    if (plan_.search) {
      const ResourceConfig& resources = plan_.base.experiment.resources;
      while (auto allocation = resource_pool_.Take(resources, resources.exclusive)) taken.push_back(*std::move(allocation));
      for (const Allocation& allocation : taken) resource_pool_.Give(allocation);
      return taken.size();
    }
    for (const PlannedTrial& trial : plan_.trials) {
      if (trial.after) continue;  // it waits for another one's end
      const ResourceConfig resources = ResourcesOf(trial);
      std::optional<Allocation> allocation = resource_pool_.Take(resources, resources.exclusive);
      if (!allocation) break;
      taken.push_back(std::move(*allocation));
    }
    for (const Allocation& allocation : taken) resource_pool_.Give(allocation);
    return taken.size();
  }

  // Trials that would run keep their state until then.
  TrialState State(size_t trial) const {
    const TrialRecord* record = record_.Find(plan_.trials[trial].id);
    if (!WouldRun(trial) || record == nullptr) return schedule_.state(trial);
    const bool again = damaged_[trial] || record->state == TrialState::kCompleted || failure_policy_.MayPassByNow(*record);
    return again ? TrialState::kPlanned : record->state;
  }

  bool WouldRun(size_t trial) const { return schedule_.Waits(trial); }

  // Adds a completed trial as evidence.
  static void AddFinished(const TrialRecord& record, size_t kind, EtaEvidence* evidence, Estimate* estimate) {
    if (record.state != TrialState::kCompleted || !record.attempts.back().end.wall_s) return;
    const AttemptEnd& end = record.attempts.back().end;
    evidence->finished.push_back({*end.wall_s, kind});
    estimate->memory_bytes = std::max(estimate->memory_bytes.value_or(0), end.peak_rss_bytes.value_or(0));
    estimate->from = evidence->finished.size();
  }

  // Uses completed trials of this plan, else completed trials of earlier plans in the folder.
  Estimate Estimated() const {
    Estimate estimate;
    EtaEvidence evidence;
    evidence.to_come = ToCome();
    evidence.at_once = std::max<size_t>(at_once_, 1);
    std::set<std::string> own;
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const PlannedTrial& trial = plan_.trials[i];
      if (WouldRun(i)) evidence.waiting.push_back(trial.point);
      own.insert(trial.id);
      if (const TrialRecord* record = record_.Find(trial.id)) AddFinished(*record, trial.point, &evidence, &estimate);
    }
    for (const auto& [id, record] : record_.trials)
      if (estimate.from == 0 || evidence.finished.back().kind == SIZE_MAX)
        if (!own.contains(id)) AddFinished(record, SIZE_MAX, &evidence, &estimate);
    if (estimate.from > 0) estimate.seconds_left = EstimateTimeLeft(evidence);
    const double rounds =
        static_cast<double>(evidence.waiting.size() + evidence.to_come) / static_cast<double>(evidence.at_once);
    const ReportConfig& report = plan_.base.experiment.report;
    if (report.precision_pct && report.max_time_s && !plan_.trials.empty())
      estimate.seconds_at_most = *report.max_time_s / static_cast<double>(plan_.Load(plan_.trials.front()).seeds) * rounds;
    return estimate;
  }

  // Broken between words where a terminal would break anywhere.
  void Say(const char* indent, const std::string& text) const {
    const size_t width =
        screen_.live ? static_cast<size_t>(std::max(screen_.width - 1, 1)) - std::strlen(indent) - 2 : kAnyWidth;
    fmt::print("{}", WrapAfter(indent, indent + std::string("  "), text, width));
  }

  // Columns that do not fit next to the names are omitted: first the ids, then the resources.
  void PrintTrials() const {
    size_t width = 5;
    for (size_t i = 0; i < std::min(plan_.trials.size(), kListedTrials); ++i) width = std::max(width, Columns(names_[i]));
    const size_t room = screen_.live ? static_cast<size_t>(std::max(screen_.width - 1, 1)) : kAnyWidth;
    const bool granted = width + kNowColumns + kGrantColumns <= room,
               ids = width + kNowColumns + kGrantColumns + kIdColumns <= room;
    width = std::min(width, room > kNowColumns ? room - kNowColumns : 1);
    const auto line = [&](const std::string& id, const std::string& name, const auto& cores, const auto& gpus,
                          const std::string& now) {
      fmt::print("{}  {}{}  {}\n", ids ? fmt::format("  {:<16}", id) : "", PadRight(CutName(name, width, screen_.utf8), width),
                 granted ? fmt::format("  {:>5}  {:>4}", cores, gpus) : "", now);
    };
    line("id", "trial", "cores", "gpus", "now");
    for (size_t i = 0; i < std::min(plan_.trials.size(), kListedTrials); ++i) {
      line(plan_.trials[i].id, names_[i], allocations_[i].cores.size(), allocations_[i].gpus.size(),
           WouldRun(i) ? "would run" : fmt::format("{}, stays", Word(State(i))));
    }
    if (plan_.trials.size() > kListedTrials)
      Say("  ", fmt::format("and {} more; --json lists all", plan_.trials.size() - kListedTrials));
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
      Say("  ", fmt::format("dropped by {}: {}{}", rule, found.first,
                            found.second.empty() ? "" : " (for example: " + found.second + ")"));
    }
  }

  void PrintEstimate() const {
    const Estimate estimate = Estimated();
    if (estimate.seconds_at_most)
      Say("  ", fmt::format("time: at most {}, plus the start and last iteration of each trial",
                            FormatClock(*estimate.seconds_at_most)));
    if (!estimate.seconds_left) {
      Say("  ", fmt::format("{}: unknown until a trial finishes on this machine",
                            estimate.seconds_at_most ? "memory" : "time and memory"));
      return;
    }
    Say("  ", fmt::format("time: about {} left, memory: up to {} MB per trial (from {} finished {})",
                          FormatClock(*estimate.seconds_left), *estimate.memory_bytes / 1000000, estimate.from,
                          estimate.from == 1 ? "trial" : "trials"));
  }

  const Plan& plan_;
  const RunArgs& args_;
  const Screen screen_ = DetectScreen(STDOUT_FILENO);
  std::vector<std::string> names_;  // [trials]
  const FailurePolicy failure_policy_;
  Schedule schedule_;
  ResourcePool resource_pool_;
  BatchRecord record_;
  std::vector<ChangedFile> changes_;
  std::string extended_;                 // a sentence on finished trials whose budget has grown
  std::string begun_anew_;               // a sentence on trials that were stopped and whose files changed
  std::vector<bool> damaged_;            // [trials] finished, but its files have changed
  std::vector<Allocation> allocations_;  // [trials]
  size_t at_once_ = 0;
};

}  // namespace

int DryRun(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args) {
  if (args.json) {
    std::printf("%s\n", JsonText(DryRunJson(plan, out, std::move(resource_pool), args), 1).c_str());
  } else {
    DryRunText(plan, out, std::move(resource_pool), args).Print();
  }
  return kOk;
}

nlohmann::json DryRunJson(const Plan& plan, const std::filesystem::path& out, ResourcePool resource_pool, const RunArgs& args) {
  return DryRunText(plan, out, std::move(resource_pool), args).Json();
}

}  // namespace backplane
