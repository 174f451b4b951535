#include "batch/option_check.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/awake_clock.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/json_text.hpp"
#include "batch/leftovers.hpp"
#include "batch/unreached_limit.hpp"
#include "contract/placeholders.hpp"
#include "contract/schema.hpp"
#include "contract/trial_check.hpp"

namespace backplane {
namespace {

// The plugin that a swept value names: the value itself or the `plugin` of a mapping.
std::string PluginIn(const std::string& path, const nlohmann::json& value) {
  if (path != "env" && path != "env.plugin" && !ChoosesLearner(path)) return "";
  return value.is_object() && value.contains("plugin") ? value["plugin"].dump() : value.dump();
}

// The first trial of each point.
std::vector<size_t> OneOfEachPoint(const Plan& plan, const std::vector<size_t>& trials) {
  std::set<size_t> points;
  std::vector<size_t> first;
  for (const size_t trial : trials) {
    if (points.insert(plan.trials[trial].point).second) first.push_back(trial);
  }
  return first;
}

}  // namespace

// Includes the names, because one file may contain several plugins.
std::string PairOf(const Plan& plan, const PlannedTrial& trial) {
  std::string key;
  for (const char* file : {"env.plugin", "learner.plugin"}) {
    const auto found = trial.files.find(file);
    key += (found == trial.files.end() ? "" : found->second) + " ";
  }
  for (const auto& [path, value] : plan.points[trial.point].values) key += PluginIn(path, value) + " ";
  return key;
}

std::vector<size_t> TrialsToCheck(const Plan& plan, const std::vector<size_t>& trials) {
  std::vector<size_t> first = OneOfEachPoint(plan, trials);
  if (first.size() <= kAllPoints) return first;
  std::set<std::string> seen;
  std::vector<size_t> chosen;
  for (const size_t trial : first) {
    const PlannedPoint& point = plan.points[plan.trials[trial].point];
    bool fresh = seen.insert(PairOf(plan, plan.trials[trial])).second;
    for (const auto& [path, value] : point.values) fresh = seen.insert(path + "=" + value.dump()).second || fresh;
    if ((fresh || point.listed) && chosen.size() < kMostPoints) chosen.push_back(trial);
  }
  return chosen;
}

namespace {

constexpr int kCheckTick_ms = 200;
constexpr double kMostBetweenLooks_s = 5;  // more: this process was stopped
// Between two answers, in addition to resources.hang_timeout: the process has to start.
constexpr double kTimeToStart_s = 7;

constexpr size_t kMostBudgets = 64;  // budgets to check per configuration

constexpr double kGrace_s = 1;  // after Ctrl-C; there is nothing to save

// A configuration to check.
struct Question {
  std::vector<size_t> trials;  // trials with it; the first one names it
  LoadedExperiment loaded;
  std::optional<LoadedExperiment> before = {};  // the previous stage
  bool killed = false;                          // the process was killed from outside in an earlier check
};
using Questions = std::vector<Question*>;

std::string ProcessOf(const LoadedExperiment& loaded) {
  return loaded.env->file.string() + "\n" + loaded.learner->file.string() + "\n" +
         ToJson(loaded.experiment)["resources"].dump();
}

// True if only the loop uses the value, and no plugin. The metric of checkpoint.best must be one of the env.
bool IsOfTheLoop(const std::string& path) {
  const bool of_checkpoints = path.starts_with("checkpoint.") && !path.starts_with("checkpoint.best.");
  return path == "seed" || path.starts_with("budget.") || of_checkpoints;
}

// Everything that determines the plugins' construction.
std::string ConfigurationOf(const LoadedExperiment& loaded) {
  nlohmann::json created = nlohmann::json::object();
  for (const HostKey& key : HostKeys()) {
    const bool is_of_the_trial = key.recorded() && key.scope != Scope::kBatch && !IsOfTheLoop(key.path);
    if (is_of_the_trial) created[key.path] = key.get(key, loaded.experiment);
  }
  // The plugin path determines the file of a name.
  for (const auto* list : {&loaded.wrappers, &loaded.monitors})
    for (const auto& plugin : *list) created["files"].push_back(plugin->file.string());
  return created.dump() + ProcessOf(loaded);
}

// Killed by a person, or by the kernel without free memory. Plugins cannot cause this on their own.
bool KilledFromOutside(const Ending& ending) {
  const int signal = ending.exit.signal;
  return ending.stop == StopReason::kNone && !ending.over_memory &&
         (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT);
}

void AddOnce(const std::string& sentence, std::vector<std::string>* sentences) {
  if (std::find(sentences->begin(), sentences->end(), sentence) == sentences->end()) sentences->push_back(sentence);
}

class Checker {
 public:
  Checker(const Plan& plan, const AttemptPlace& place, Engine* engine, ResourcePool* resource_pool)
      : plan_(plan), place_(place), engine_(*engine), resource_pool_(*resource_pool) {}

  CheckedOptions Run(const std::vector<size_t>& trials) {
    std::filesystem::remove_all(folder());  // from an earlier session
    Collect(trials);
    std::vector<std::string> processes;
    std::map<std::string, Questions> of_process;
    for (const auto& question : questions_) {
      const std::string process = ProcessOf(question->loaded);
      if (!of_process.contains(process)) processes.push_back(process);
      of_process[process].push_back(question.get());
    }
    for (const std::string& process : processes) {
      if (!report_.interrupted) AskAll(of_process[process]);
    }
    std::error_code error;
    std::filesystem::remove(folder(), error);  // only succeeds if it is empty
    SpeakForUnasked(trials);
    if (answered_.size() == plan_.points.size()) report_.recorded = recorded_;
    const auto first = [](const FailedCheck& check) { return check.trials.front(); };
    std::sort(report_.failed.begin(), report_.failed.end(),
              [&](const FailedCheck& a, const FailedCheck& b) { return first(a) < first(b); });
    return report_;
  }

 private:
  std::filesystem::path folder() const { return ResultsFolder{place_.out}.check(); }

  bool FolderInPlace() const { return place_.watch == nullptr || place_.watch->InPlace(); }

  void Collect(const std::vector<size_t>& trials) {
    std::map<size_t, Question*> of_point;
    std::map<std::string, Question*> of_configuration;
    for (const size_t trial : TrialsToCheck(plan_, trials)) {
      LoadedExperiment loaded = plan_.Load(plan_.trials[trial]);
      std::optional<LoadedExperiment> before;
      if (const auto& after = plan_.trials[trial].after) before = plan_.Load(plan_.trials[*after]);
      Question*& question = of_configuration[ConfigurationOf(loaded) + (before ? "\nafter " + ConfigurationOf(*before) : "")];
      if (question == nullptr) {
        questions_.push_back(std::make_unique<Question>());
        question = questions_.back().get();
        question->loaded = std::move(loaded);
        question->before = std::move(before);
      }
      of_point[plan_.trials[trial].point] = question;
    }
    for (const size_t trial : trials) {
      const auto found = of_point.find(plan_.trials[trial].point);
      if (found != of_point.end()) {
        found->second->trials.push_back(trial);
      } else {
        unasked_.insert(trial);
      }
    }
  }

  void AskAll(Questions open) {
    while (!open.empty() && !report_.interrupted) {
      Ask(&open);
      if (InterruptScope::Count() > 0 || !FolderInPlace()) report_.interrupted = true;
    }
  }

  // Checks all open configurations in one process. Removes those with an answer, and the one at which the process ended.
  void Ask(Questions* open) {
    const std::filesystem::path dir = folder() / std::to_string(++processes_);
    std::filesystem::create_directories(dir);
    const size_t failed_before = report_.failed.size();
    const Ending ending = RunProcess(*open, dir);
    if (!FolderInPlace()) return;
    std::istringstream answers(ReadFile(AttemptFolder(dir).standard_output()).value_or(""));
    for (std::string line; std::getline(answers, line);) {
      const auto check = TrialCheckFromLine(line);
      if (!check || open->empty() || check->trial_id != IdOf(*open->front())) continue;
      Answered(*open->front(), *check, dir);
      open->erase(open->begin());
    }
    if (!open->empty() && InterruptScope::Count() == 0) {
      Question& at = *open->front();
      const bool again = KilledFromOutside(ending) && !at.killed;
      at.killed = KilledFromOutside(ending);
      if (!again) {
        EndedAt(at, ending, dir);
        open->erase(open->begin());
      }
    }
    if (report_.failed.size() == failed_before) std::filesystem::remove_all(dir);
  }

  Ending RunProcess(const Questions& open, const std::filesystem::path& dir) {
    const ResourceConfig& resources = open.front()->loaded.experiment.resources;
    const auto allocation = resource_pool_.Take(resources, /*exclusive=*/false);
    if (!allocation) throw std::runtime_error("no room to check a trial, although no trial runs");
    TrialCommand command;
    command.allocation = *allocation;
    command.grace_s = kGrace_s;
    command.child.program = place_.program;
    command.child.arguments = {"run-trial", "--check"};
    command.child.stdout_file = AttemptFolder(dir).standard_output();
    command.child.stderr_file = AttemptFolder(dir).standard_error();
    command.child.inherit_fds = place_.lock_fds;
    command.status_file = dir / kCheckStatus;
    command.child.environment = {TrialVariable(place_.out, IdOf(*open.front()))};
    for (const Question* question : open)
      command.child.arguments.push_back(WriteTrialJson(*question, *allocation, dir).string());
    Ending ending;
    ending.memory_limit_bytes = allocation->memory_bytes;
    Wait(engine_.Start(command), command.child.stdout_file, resources.hang_timeout_s + kTimeToStart_s, &ending);
    resource_pool_.Give(*allocation);
    return ending;
  }

  const std::string& IdOf(const Question& question) const { return plan_.trials[question.trials.front()].id; }

  std::filesystem::path WriteTrialJson(const Question& question, const Allocation& allocation,
                                       const std::filesystem::path& dir) const {
    LoadedExperiment loaded = question.loaded;
    loaded.experiment.resources.device_memory = resource_pool_.MemoryOfDevice(loaded.experiment.resources, allocation);
    const std::string before = plan_.IdBefore(plan_.trials[question.trials.front()]);
    TrialSpec spec = SpecOf(place_, loaded, IdOf(question), before);
    spec.attempt_dir = dir;
    if (question.before) {
      TrialSpec spec_before = SpecOf(place_, *question.before, before, "");
      spec_before.attempt_dir = dir;
      ReplaceFile(CheckedBefore(dir, before), ToJson(spec_before).dump(kJsonIndent));
    }
    const std::filesystem::path file = dir / (IdOf(question) + ".json");
    ReplaceFile(file, ToJson(spec).dump(kJsonIndent));
    return file;
  }

  // Each answer is a sign of life.
  void Wait(JobId job, const std::filesystem::path& answers, double patience_s, Ending* ending) {
    AwakeClock clock(kMostBetweenLooks_s);
    double last_sign_s = 0;
    uintmax_t size = 0;
    int interrupts = 0;
    for (;;) {
      for (const JobEnd& end : engine_.Wait(kCheckTick_ms)) {
        if (end.job != job) continue;
        ending->exit = end.exit;
        ending->over_memory = end.over_memory;
        ending->peak_rss_bytes = end.peak_rss_bytes;
        ending->not_started = end.not_started;
        ending->stuck = end.stuck;
        ending->left = end.left;
        ending->plugin = end.status ? end.status->plugin : "";
        return;
      }
      const double now_s = clock.Look();
      std::error_code error;
      if (const uintmax_t now = std::filesystem::file_size(answers, error); !error && now != size) {
        size = now;
        last_sign_s = clock.seconds();
      }
      if (!FolderInPlace()) engine_.Stop(job, StopHow::kKill);  // there is nothing to save
      if (const int count = InterruptScope::Count(); count != interrupts) {
        interrupts = count;
        engine_.Stop(job, count >= 2 ? StopHow::kKill : StopHow::kAsk);
      }
      if (now_s - last_sign_s > patience_s) {
        ending->stop = StopReason::kHang;
        engine_.Stop(job, StopHow::kKill);
      }
    }
  }

  void Answered(const Question& question, const TrialCheck& check, const std::filesystem::path& dir) {
    if (check.iteration != IterationSize{}) NoteUnreached(question, check.iteration);
    for (const std::string& warning : check.warnings) AddOnce(warning, &report_.warnings);
    if (check.outcome == Outcome::kOk) {
      for (const auto& [name, direction] : check.records)
        if (int& known = recorded_[name]; known == 0) known = direction;
      if (!check.not_taken.empty()) report_.not_taken = check.not_taken;
      if (!check.saves_state) report_.unsaved.insert(question.loaded.learner->id);
      // The metrics of a command are unknown before it runs.
      if (question.loaded.experiment.HasCommand()) return;
      for (const size_t trial : question.trials) answered_.insert(plan_.trials[trial].point);
    }
    if (check.outcome == Outcome::kOk || check.outcome == Outcome::kOom || check.outcome == Outcome::kKilled) return;
    Fail(question, check.outcome, check.error, dir);
    report_.failed.back().path = check.path;
    report_.failed.back().place = check.place;
    report_.failed.back().plugin = check.plugin;
  }

  // Checks each budget among the points with this configuration.
  void NoteUnreached(const Question& question, const IterationSize& size) {
    std::set<size_t> points;
    for (const size_t trial : question.trials) {
      if (!points.insert(plan_.trials[trial].point).second || points.size() > kMostBudgets) continue;
      const LoadedExperiment loaded = plan_.Load(plan_.trials[trial]);
      for (const std::string& note : UnreachedLimits(loaded.experiment.budget, loaded.origin, size))
        AddOnce(note, &report_.notes);
    }
  }

  // The process ended while it checked this configuration.
  void EndedAt(const Question& question, const Ending& ending, const std::filesystem::path& dir) {
    const AttemptVerdict verdict = Classify(ending);
    if (verdict.outcome == Outcome::kOom || verdict.outcome == Outcome::kKilled) return;
    // The exit code only identifies the class; the last output line contains the cause, unless it only announces this check.
    const std::vector<std::string> said = LastLines(AttemptFolder(dir).standard_error(), 1);
    const std::string last = said.empty() || said.back() == CheckBegins(IdOf(question)) ? "" : said.back();
    const bool by_itself = ending.exit.signal == 0 && ending.stop == StopReason::kNone;
    Fail(question, verdict.outcome,
         last.empty() ? verdict.why
         : by_itself  ? last
                      : verdict.why + "; its last line: " + last,
         dir);
    FailedCheck& failed = report_.failed.back();
    failed.killed = KilledFromOutside(ending);
    if (!by_itself) failed.cause = verdict.why;
    if (!failed.killed) failed.plugin = ending.plugin;  // a killed process does not identify the culprit
  }

  void Fail(const Question& question, Outcome outcome, const std::string& error, const std::filesystem::path& dir) {
    const LoadedExperiment& loaded = question.loaded;
    FailedCheck failed{question.trials, loaded.env->id, loaded.learner->id, outcome, error, "", "", "", dir, error};
    report_.failed.push_back(std::move(failed));
  }

  // If all checked points of a pair failed, and not because of an option that differs elsewhere, the remaining points of the
  // pair fail too.
  void SpeakForUnasked(const std::vector<size_t>& trials) {
    if (unasked_.empty()) return;
    std::map<std::string, FailedCheck*> failed;
    std::map<size_t, FailedCheck*> of_trial;
    for (FailedCheck& check : report_.failed)
      for (const size_t trial : check.trials) of_trial[trial] = &check;
    for (const size_t trial : trials) {
      if (unasked_.contains(trial)) continue;
      const auto found = of_trial.find(trial);
      const auto [known, fresh] = failed.try_emplace(PairOf(plan_, plan_.trials[trial]), nullptr);
      const bool speaks = found != of_trial.end() && found->second->path.empty() && !found->second->killed;
      if (fresh && speaks) known->second = found->second;
      if (!speaks) known->second = nullptr;
    }
    for (const size_t trial : unasked_) {
      const auto found = failed.find(PairOf(plan_, plan_.trials[trial]));
      if (found != failed.end() && found->second != nullptr) found->second->trials.push_back(trial);
    }
  }

  const Plan& plan_;
  const AttemptPlace& place_;
  Engine& engine_;
  ResourcePool& resource_pool_;
  std::vector<std::unique_ptr<Question>> questions_;
  size_t processes_ = 0;
  std::set<size_t> unasked_;   // trials beyond the limit for checks
  std::set<size_t> answered_;  // points that are ok
  RecordedMeasures recorded_;
  CheckedOptions report_;
};

}  // namespace

CheckedOptions CheckOptions(const Plan& plan, const std::vector<size_t>& trials, const AttemptPlace& place, Engine* engine,
                            ResourcePool* resource_pool) {
  return Checker(plan, place, engine, resource_pool).Run(trials);
}

bool FitsNever(const FailedCheck& check) {
  return !check.killed && (check.outcome == Outcome::kConfig || check.outcome == Outcome::kPlugin ||
                           check.outcome == Outcome::kSignal || check.outcome == Outcome::kNan);
}

}  // namespace backplane
