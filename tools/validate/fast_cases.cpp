#include "validate/fast_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "config/option_aliases.hpp"
#include "plugin/catalog.hpp"
#include "rollout/clocks.hpp"
#include "validate/by_cause.hpp"
#include "validate/case_process.hpp"
#include "validate/driven_env.hpp"
#include "validate/driven_learner.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

constexpr double kCpu_ms = 50, kWall_ms = 500;  // an env may wait for other processes
constexpr double kLimit_s = 3;                  // for a hanging case

double Cpu_ms() { return static_cast<double>(ReadClock(CLOCK_PROCESS_CPUTIME_ID)) * 1e-6; }
double Now_ms() { return static_cast<double>(NowNs()) * 1e-6; }

struct Used {
  double cpu_ms = 0, wall_ms = 0;
  Used operator-(const Used& other) const { return {cpu_ms - other.cpu_ms, wall_ms - other.wall_ms}; }
};
Used UsedNow() { return {Cpu_ms(), Now_ms()}; }

Used UsedBy(auto&& function) {
  const Used before = UsedNow();
  function();
  return UsedNow() - before;
}

// A few turns of an instance after its first.
Used UsedByTurns(Subject& subject, uint32_t turns) {
  if (subject.info().kind == BP_KIND_ENV) {
    DrivenEnv env(subject, {.rows = 1});
    env.ResetAll();
    env.Play(0, 1);
    return UsedBy([&] { env.Play(1, 1 + turns); });
  }
  DrivenLearner learner(subject, {});
  learner.Act({0, learner.rows()}, BP_ACT_EXPLORE, 0);
  return UsedBy([&] {
    for (uint32_t i = 0; i < turns; ++i) learner.Act({0, learner.rows()}, BP_ACT_EXPLORE, 1 + i);
  });
}

// Measures the cost of an instance and of a turn in the case process, and chooses cases by it.
class Chooser {
 public:
  const Case* Next(Subject& subject) {
    if (at_ == 0) Measure(subject);
    for (const auto& all = AllCases(); at_ < all.size();) {
      const Case& one = all[at_++];
      if (one.fast && one.Is(subject.info().kind) && HasTimeFor(*one.fast)) return &one;
    }
    return nullptr;
  }

 private:
  static constexpr uint32_t kTurns = 3;

  void Measure(Subject& subject) {
    subject.module();
    // A monitor needs no instance, because its use of events may be visible elsewhere.
    const bool is_made = subject.info().kind != BP_KIND_MONITOR;
    if (is_made) making_ = UsedBy([&] { MakeOnce(subject); });
    begin_ = UsedNow();
    if (!is_made || !HasTimeFor({.instances = 1, .turns = 0})) return;
    // Loading reports plugins that cannot be created. A plugin that crashes in its first turn most likely breaks this rule.
    NowOfCase(*FindCase(subject.info().kind == BP_KIND_ENV ? "stays-in-its-buffers" : "act-writes-its-rows"));
    turns_ = UsedByTurns(subject, kTurns);
  }

  bool HasTimeFor(const FastCost& cost) const {
    const Used so_far = UsedNow() - begin_;
    const auto then = [&](double now, double making, double turns) {
      return now + cost.instances * making + cost.turns * turns / kTurns;
    };
    return then(so_far.cpu_ms, making_.cpu_ms, turns_.cpu_ms) <= kCpu_ms &&
           then(so_far.wall_ms, making_.wall_ms, turns_.wall_ms) <= kWall_ms;
  }

  size_t at_ = 0;
  Used making_, turns_, begin_;
};

// The failure to fix first; `results` of all cases that ran, of which one is bad.
std::string SentenceOf(const PluginInfo& info, const std::vector<CaseResult>& results) {
  const std::vector<Failure> failures = ByCause(results);
  const CaseResult& first = *failures.front().first;
  const std::string broken = failures.front().is_of_rule
                                 ? fmt::format("breaks the rule '{}': {}", first.name, FindCase(first.name)->rule)
                                 : fmt::format("fails in the case '{}' ({}).", first.name, first.cause);
  std::string others;
  for (size_t i = 1; i < failures.size(); ++i) others += fmt::format("{}'{}'", i == 1 ? "" : ", ", failures[i].first->name);
  return fmt::format(
      "{} {} In {}: expected {}, got {}. {}{} `backplane plugin validate {}` tests every rule; {}=off skips the check", info.id,
      broken, first.place, first.wanted, first.found, first.mend, others.empty() ? "" : " Other failed cases: " + others + ".",
      info.file.string(), kValidateVariable);
}

// A trial's plugin and its options. info is NULL if the file cannot be read; loading it reports the reason.
struct Subjected {
  const PluginInfo* info;
  nlohmann::json options;
};

class Finder {
 public:
  explicit Finder(const ValidatedFiles& files) : files_(files) {}

  void LookAt(const TrialSpec& spec) {
    if (IsNew(spec.env)) Try(EnvOf(spec), nullptr);
    if (StoppedBySignal()) return;
    // Tests a learner in the trial's env, because its options may only suit that env.
    if (!broken_.contains(spec.env.file) && IsNew(spec.learner)) {
      const Subjected env = EnvOf(spec);
      Try(Read(BP_KIND_LEARNER, spec.learner, spec.experiment.learner.options, spec), &env);
    }
    for (size_t i = 0; i < spec.monitors.size(); ++i)
      if (!StoppedBySignal() && IsNew(spec.monitors[i]))
        Try(Read(BP_KIND_MONITOR, spec.monitors[i], spec.experiment.monitors[i].options, spec), nullptr);
  }

  std::vector<BrokenRule> found;

 private:
  // For known files, the common case, this is all.
  bool IsNew(const TrialPlugin& plugin) {
    return looked_at_.emplace(plugin.file, plugin.id).second && !files_.Has(plugin.file, plugin.id);
  }

  Subjected Read(uint32_t kind, const TrialPlugin& plugin, nlohmann::json options, const TrialSpec& spec) {
    std::string why_not;
    const PluginInfo* info = catalog_.Find(kind, plugin.file.string(), &why_not);
    if (info != nullptr) AddHostNamed(*info, ToJson(spec.experiment), &options);
    return {info, std::move(options)};
  }
  Subjected EnvOf(const TrialSpec& spec) { return Read(BP_KIND_ENV, spec.env, spec.experiment.env.options, spec); }

  void Try(const Subjected& subject, const Subjected* env) {
    // If only one instance is allowed, the trial's is the one.
    const auto cannot_be_made = [](const Subjected& one) {
      return one.info == nullptr || (one.info->flags & BP_FLAG_SINGLETON) != 0;
    };
    if (cannot_be_made(subject) || (env != nullptr && cannot_be_made(*env))) return;
    const PluginInfo& info = *subject.info;
    const std::string entry = files_.EntryOf(info.file, info.id);
    ValidateSetting setting;
    setting.options = subject.options;
    for (const OptionInfo& option : info.options) setting.given.push_back(option.path);
    if (env != nullptr) setting.env = env->info, setting.env_options = env->options;
    bool complete = false;
    const std::vector<CaseResult> results = RunFastCases(info, setting, &complete);
    if (std::ranges::none_of(results, &CaseResult::bad)) {
      if (complete) files_.Add(entry);
      return;
    }
    broken_.insert(info.file);
    found.push_back({info.file, info.id, SentenceOf(info, results)});
  }

  const ValidatedFiles& files_;
  Catalog catalog_;
  std::set<std::pair<std::filesystem::path, std::string>> looked_at_;
  std::set<std::filesystem::path> broken_;
};

}  // namespace

std::vector<CaseResult> RunFastCases(const PluginInfo& info, const ValidateSetting& setting, bool* complete) {
  Chooser chooser;
  CasesRun run = RunCases([&](Subject& subject) { return chooser.Next(subject); }, info, setting, kLimit_s);
  if (complete != nullptr) *complete = run.complete && !run.results.empty();
  // An error for a different number of rows, for example, breaks none of these rules.
  std::erase_if(run.results, [](const CaseResult& result) { return result.place == "create"; });
  return std::move(run.results);
}

std::vector<BrokenRule> FindBrokenRules(const std::vector<TrialSpec>& specs, const ValidatedFiles& files) {
  Finder finder(files);
  for (const TrialSpec& spec : specs)
    if (!StoppedBySignal()) finder.LookAt(spec);
  return std::move(finder.found);
}

}  // namespace backplane
