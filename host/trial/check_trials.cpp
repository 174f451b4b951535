#include "trial/check_trials.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <vector>

#include "base/bounded.hpp"
#include "base/json_text.hpp"
#include "contract/start_source.hpp"
#include "data/group.hpp"
#include "log/log.hpp"
#include "plugin/exports.hpp"
#include "record/best_measures.hpp"
#include "record/metric_series.hpp"
#include "rollout/check_spec.hpp"
#include "trial/budget.hpp"
#include "trial/check_best.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/crash.hpp"
#include "trial/exit_reason.hpp"
#include "trial/new_plugins.hpp"
#include "trial/option_places.hpp"
#include "trial/parts.hpp"
#include "trial/plugin_state.hpp"
#include "trial/resume.hpp"
#include "trial/start_workers.hpp"

namespace backplane {
namespace {

// Measures that the trial will record: registered ones, measures of episodes and, with an evaluation, the same under eval/ and
// for the baselines. `parts` is loaded.
RecordedMeasures RecordedNames(TrialParts* parts, const BestConfig& best) {
  std::vector<std::string> of_episodes = {"return", "ep/length"};
  for (const bp_channel* channel : parts->env().channels())
    if (IsEpisodeInfo(*channel)) of_episodes.push_back(channel->name);
  RecordedMeasures names;
  for (const std::string& name : of_episodes) names[name] = 0;
  for (const MetricsHub::Metric& metric : parts->metrics().Registered()) names[metric.name] = metric.direction;
  if (parts->evaluation_env() == nullptr) return names;
  of_episodes.push_back("ep/loss");  // of held-out items, if a learner of a data set reports it
  for (const char* prefix : {"eval/", "floor_zero/", "floor_uniform/"})
    for (const std::string& name : of_episodes) names.try_emplace(NameUnder(prefix, name), 0);
  if (best.metric) names[BestNameOf(*best.metric)] = best.Direction(), names[kBestIteration] = 0;
  return names;
}

ExitReason TryToLoad(TrialParts* parts, uint64_t evaluation_rows) {
  try {
    parts->Load({.monitors = true, .evaluation_rows = evaluation_rows});
    return {};
  } catch (...) {
    return ReasonOfCurrentException();
  }
}

void Say(const TrialCheck& check) {
  // Starts on a new line, in case a plugin's last line has no end.
  std::printf("\n%s\n", JsonText(ToJson(check)).c_str());
  std::fflush(stdout);
}

// The state that the previous stage's learner has saved or, before it has run, the state that it would save now. Absent: it
// cannot be known.
std::optional<std::vector<std::byte>> StateBefore(const StartFrom& from, const std::filesystem::path& folder,
                                                  StatusWriter* status, const std::atomic<bool>& cancelled) {
  try {
    const std::filesystem::path file = CheckpointFile(from.checkpoint_dir, 0);
    if (std::filesystem::exists(file)) return PartOf(ReadCheckpoint(file, from.trial_id), "learner");
  } catch (const CheckpointError&) {
    // The trial that would start with it reports that. The fit of the two can be checked without it.
  }
  const TrialSpec spec = ReadTrialSpec(CheckedBefore(folder, from.trial_id));
  try {
    TrialParts parts(spec, status, &cancelled, [](const std::string&, int, const std::string&) {});
    parts.Load({.monitors = false, .evaluation_rows = 0});
    const bp_learner_state_1* state = StateOf(parts.learner());
    if (state == nullptr) return std::nullopt;
    return SaveLearner(*state, parts.learner());
  } catch (...) {
    return std::nullopt;  // its own check reports the error
  }
}

ExitReason TryToStart(const TrialSpec& spec, const std::filesystem::path& folder, TrialParts* parts, StatusWriter* status,
                      const std::atomic<bool>& cancelled) {
  try {
    if (spec.start_from->is_kept()) {
      WarningList warnings(*status);
      StartLearnerFrom(*spec.start_from, parts->learner(), &warnings);
      return {};
    }
    NeedState(parts->learner());
    if (const auto before = StateBefore(*spec.start_from, folder, status, cancelled))
      StartLearner(parts->learner(), *before, spec.start_from->trial_id);
    return {};
  } catch (...) {
    return ReasonOfCurrentException();
  }
}

// Why the learner cannot load another trial's state; empty: it can.
std::string TryToTake(const StartFrom& from, LearnerInstance& learner) try {
  const bp_learner_state_1* state = StateOf(learner);
  if (state == nullptr) return learner.id() + " cannot load a state, because it does not offer " BP_LEARNER_STATE_1;
  LoadLearner(*state, learner, PartOf(ReadCheckpoint(CheckpointFile(from.checkpoint_dir, 0), from.trial_id), "learner"));
  return "";
} catch (const std::runtime_error& e) {
  return e.what();
}

ExitReason TryToEnd(TrialParts* parts) {
  try {
    parts->Destroy();
    return {};
  } catch (...) {
    return ReasonOfCurrentException();
  }
}

IterationSize SizeOfData(const bp_request& request, uint64_t items) {
  const uint64_t group = std::min(request.u.data.group_rows, items);
  if (group == 0) return {};
  const bool drops_last = (request.u.data.flags & BP_DATA_DROP_LAST) != 0;
  const uint64_t whole = items / group;
  if (drops_last) return {group, group, whole, whole * group};
  return {group, group, whole + (items % group > 0 ? 1 : 0), items};
}

// The learner's first request, with the limits of the trial's start. Absent: it fails, and the trial will report that.
std::optional<bp_request> FirstRequest(TrialParts* parts) {
  try {
    bp_limits limits = Limits({}, {}, parts->env().rows(), parts->call_rows());
    if (SourceOf(parts->env())) limits.items = ItemsOf(parts->env());
    return parts->learner().Plan(limits);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Only called if two limits of the budget must be compared.
IterationSize SizeOfAnIteration(const TrialSpec& spec, TrialParts* parts) try {
  const BudgetConfig& budget = spec.experiment.budget;
  if (budget.iterations.has_value() + budget.env_steps.has_value() + budget.epochs.has_value() < 2) return {};
  const std::optional<bp_request> request = FirstRequest(parts);
  switch (request ? request->kind : 0) {
    case BP_REQ_ROLLOUT: {
      const uint64_t steps = request->u.rollout.horizon * parts->env().rows();
      return {steps, steps, 0, 0};
    }
    case BP_REQ_EVALUATE: {  // an episode has at least one step
      const auto& asked = request->u.evaluate;
      const uint64_t episodes = asked.candidates * asked.episodes_each;
      uint64_t most = 0;
      if (__builtin_mul_overflow(episodes, asked.max_steps, &most)) most = 0;  // as good as no limit
      return {episodes, most, 0, 0};
    }
    case BP_REQ_DATA: return SizeOfData(*request, ItemsOf(parts->env()));
    default: return {};
  }
} catch (const std::exception&) {
  return {};
}

// Warns of episodes that are played to their end but may have none.
std::vector<std::string> WarningsOf(const TrialSpec& spec, TrialParts* parts) {
  const EnvInstance& env = parts->env();
  if (env.spec().max_episode_steps > 0) return {};
  const EvaluationConfig& evaluation = spec.experiment.evaluation;
  const char* what = "evaluations";
  if (evaluation.episodes == 0) {
    const std::optional<bp_request> request = FirstRequest(parts);
    if (!request || request->kind != BP_REQ_EVALUATE || request->u.evaluate.max_steps > 0) return {};
    what = "candidates";
  }
  return {
      fmt::format("{} declares no time limit, so episodes of its {} are truncated after {} steps "
                  "(evaluation.max_episode_steps)",
                  env.id(), what, evaluation.max_episode_steps)};
}

// Checks whether a learner can have workers, with its first request under the limits of the trial's start.
ExitReason TryToShareOut(const TrialSpec& spec, TrialParts* parts) {
  try {
    bp_limits limits = Limits(spec.experiment.budget, {}, parts->env().rows(), parts->call_rows());
    if (SourceOf(parts->env())) limits.items = ItemsOf(parts->env());
    CheckPlaysElsewhere(parts->learner(), parts->env(), parts->learner().Plan(limits));
    return {};
  } catch (...) {
    return ReasonOfCurrentException();
  }
}

constexpr char kGpusKey[] = "resources.gpus";

// A GPU that no plugin uses would be kept from other trials, and its use in the report would be 0.
ExitReason TryToUseGpus(const TrialSpec& spec, const TrialParts& parts) {
  const double granted = spec.experiment.resources.gpus;
  if (granted == 0 || parts.UsesGpu()) return {};
  return {kExitConfig, Outcome::kConfig, "",
          fmt::format("{}: expected a learner or an env that computes on a GPU, got {} and {} with {:g}, which would idle\n"
                      "hint: --set {}=0",
                      kGpusKey, spec.learner.id, spec.env.id, granted, kGpusKey)};
}

ExitReason TryToKeepBest(const TrialSpec& spec, TrialParts* parts) {
  try {
    CheckBest(spec, parts->env(), parts->learner());
    CheckGoal(spec, parts->env(), parts->learner());
    return {};
  } catch (...) {
    return ReasonOfCurrentException();
  }
}

// Returns the result after all plugins are destroyed, so that a crash at destruction belongs to its own check.
TrialCheck Try(const TrialSpec& spec, const std::filesystem::path& folder, StatusWriter* status,
               const std::atomic<bool>& cancelled, TrialExit* exit) {
  std::mutex mutex;  // monitors log from their own threads
  std::vector<std::string> warnings;
  TrialParts parts(spec, status, &cancelled, [&](const std::string& id, int severity, const std::string& text) {
    LogError("{}: {}", id, text);
    const std::lock_guard lock(mutex);
    if (severity == BP_LOG_WARN) warnings.push_back(id + ": " + text);
  });
  ExitReason failed = TryToLoad(&parts, spec.experiment.evaluation.episodes);
  const RecordedMeasures records =
      failed.exit == kExitOk ? RecordedNames(&parts, spec.experiment.checkpoint.best) : RecordedMeasures();
  const char* refused_key = nullptr;
  if (failed.exit == kExitOk) {
    failed = TryToUseGpus(spec, parts);
    if (failed.exit != kExitOk) refused_key = kGpusKey;
  }
  if (failed.exit == kExitOk) {
    failed = TryToKeepBest(spec, &parts);
    if (failed.exit != kExitOk) refused_key = kBestMetricKey;
  }
  if (failed.exit == kExitOk && spec.experiment.rollout.workers > 0) {
    failed = TryToShareOut(spec, &parts);
    if (failed.exit != kExitOk) refused_key = kWorkersKey;
  }
  const bool may_begin_anew = spec.start_from && spec.start_from->may_be_broken_off;
  if (failed.exit == kExitOk && spec.start_from && !may_begin_anew)
    failed = TryToStart(spec, folder, &parts, status, cancelled);
  if (failed.exit != kExitOk && refused_key == nullptr && spec.start_from && spec.start_from->is_kept() &&
      failed.error.starts_with(kStartKey))
    refused_key = kStartKey;
  const bool saves = failed.exit != kExitOk || StateOf(parts.learner()) != nullptr;
  const IterationSize size = failed.exit == kExitOk ? SizeOfAnIteration(spec, &parts) : IterationSize{};
  const std::vector<std::string> endless = failed.exit == kExitOk ? WarningsOf(spec, &parts) : std::vector<std::string>();
  const std::string not_taken = failed.exit == kExitOk && may_begin_anew ? TryToTake(*spec.start_from, parts.learner()) : "";
  if (failed.exit == kExitOk) failed = TryToEnd(&parts);
  const std::lock_guard lock(mutex);
  warnings.insert(warnings.end(), endless.begin(), endless.end());
  TrialCheck check{spec.trial_id, failed.outcome, failed.plugin, Bounded(failed.error), "", "", size,
                   records,       saves,          warnings,      Bounded(not_taken)};
  if (refused_key != nullptr) {
    const auto place = spec.origin.find(refused_key);
    check.path = refused_key;
    check.place = place == spec.origin.end() ? "" : place->second;
  } else if (failed.outcome == Outcome::kConfig) {
    const size_t end = std::min(check.error.find('\n'), check.error.size());  // of the sentence; a hint may follow
    const std::string sentence = check.error.substr(0, end);
    std::vector<NamedOption> named = OptionsNamed(sentence, spec.origin, parts.section());
    // The error's place is an option of the failing plugin; options of other plugins are only pointed out.
    const auto own = std::find_if(named.begin(), named.end(),
                                  [&](const NamedOption& option) { return option.path.starts_with(parts.section() + "."); });
    if (own != named.end()) {
      check.path = own->path, check.place = own->place;
      named.erase(own);
    }
    check.error.insert(end, PlacesText(sentence, named));
  }
  if (const auto monitor = MonitorNamed(parts.section(), failed.plugin, spec.origin); monitor && check.path.empty())
    check.path = monitor->path, check.place = monitor->place;
  *exit = failed.exit;
  return check;
}

// NULL: no rule of this trial's plugins.
const BrokenRule* BrokenOf(const TrialSpec& spec, const std::vector<BrokenRule>& broken) {
  const auto is_of = [&](const BrokenRule& one) {
    const auto is = [&](const TrialPlugin& plugin) { return plugin.file == one.file && plugin.id == one.id; };
    return is(spec.env) || is(spec.learner) || std::any_of(spec.wrappers.begin(), spec.wrappers.end(), is) ||
           std::any_of(spec.monitors.begin(), spec.monitors.end(), is);
  };
  const auto found = std::find_if(broken.begin(), broken.end(), is_of);
  return found == broken.end() ? nullptr : &*found;
}

// Warns of each plugin file once.
void WarnOfExports(const TrialSpec& spec, std::set<std::filesystem::path>* known, std::vector<std::string>* warnings) {
  std::vector<std::filesystem::path> files = {spec.env.file, spec.learner.file};
  for (const TrialPlugin& wrapper : spec.wrappers) files.push_back(wrapper.file);
  for (const TrialPlugin& monitor : spec.monitors) files.push_back(monitor.file);
  for (const std::filesystem::path& file : files) {
    if (!known->insert(file).second) continue;
    if (const std::string surplus = SurplusExportsText(file); !surplus.empty()) warnings->push_back(surplus);
  }
}

TrialExit CheckTrial(const TrialSpec& spec, const std::filesystem::path& folder, const TriedPlugins& tried,
                     StatusWriter* status, const std::atomic<bool>& cancelled, std::set<std::filesystem::path>* known) {
  LogError("{}", CheckBegins(spec.trial_id));
  TrialExit exit = kExitOk;
  TrialCheck check;
  if (const BrokenRule* rule = BrokenOf(spec, tried.broken)) {
    check = {spec.trial_id, Outcome::kPlugin, rule->id, Bounded(rule->sentence), "", ""};
    exit = kExitPlugin;
  } else {
    check = Try(spec, folder, status, cancelled, &exit);
    if (exit == kExitOk && !tried.not_tried.empty()) check.warnings.push_back(tried.not_tried);
    if (exit == kExitOk) WarnOfExports(spec, known, &check.warnings);
  }
  if (!check.error.empty()) LogError("{}", check.error);
  Say(check);
  return exit;
}

}  // namespace

int CheckTrials(const std::vector<TrialSpec>& specs, const std::filesystem::path& folder, const std::atomic<bool>& cancelled) {
  const TriedPlugins tried = TryNewPlugins(specs, cancelled);
  const std::filesystem::path status_file = folder / kCheckStatus;
  StatusWriter status{status_file};
  std::string checked;
  InstallCrashHandlers(&status, "", [&checked](const std::string& plugin) {
    const std::string error = plugin + " called exit(); plugins must not end the process";
    LogError("{}", error);
    Say({checked, Outcome::kPlugin, plugin, error, "", ""});
    std::fflush(nullptr);
    _exit(kExitPlugin);
  });
  KeepProcessState();
  TrialExit first = kExitOk;
  std::set<std::filesystem::path> known;
  for (const TrialSpec& spec : specs) {
    if (cancelled) return kExitTemp;
    checked = spec.trial_id;
    const TrialExit exit = CheckTrial(spec, folder, tried, &status, cancelled, &known);
    if (first == kExitOk) first = exit;
  }
  std::filesystem::remove(status_file);
  return first;
}

}  // namespace backplane
