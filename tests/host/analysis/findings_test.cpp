#include "analysis/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two settings on two cores, on a machine that tells everything there is to tell, and nothing is wrong with them. A test
// changes what it speaks of.
class Batch {
 public:
  Batch() {
    combined_.groups = {{"", {{"host", {{"granted_cores", 2}}}}}};
    Add("1x1", 1, 1, 1000).Add("2x1", 2, 1, 1900);
    options_ = {{"update_bound", "learner.options.minibatch_size", 1, "integer", "[1,)"},
                {"update_bound", "learner.options.num_epochs", -1, "integer", "[1,)"}};
  }

  Batch& Add(const std::string& name, uint64_t runners, uint64_t rows, double sps, uint64_t seed = 0, size_t group = 0) {
    TrialData t;
    t.point = t.point_id = name, t.seed = seed, t.state = "COMPLETED", t.cores = {0, 1}, t.gpus = 1;
    t.config = {{"rollout", {{"num_env_runners", runners}, {"num_envs_per_env_runner", rows}, {"threads", "auto"}}},
                {"learner", {{"options", {{"num_epochs", 10}, {"minibatch_size", 128}, {"amp", false}, {"share", 0.9}}}}},
                {"budget", {{"iterations", 6}}},
                {"checkpoint", {{"every_iterations", 5}}},
                {"resources", {{"cpus", "auto"}}}};
    for (const auto& [measure, value] :
         std::map<std::string, double>{{"SPS", sps},
                                       {"threads", std::min<double>(static_cast<double>(runners), 2)},
                                       {"learner_threads", 2},
                                       {"blas_gflops", 71},
                                       {"phase/env_step", 40},
                                       {"phase/infer", 20},
                                       {"phase/update_backward", 20},
                                       {"phase/idle", 20},
                                       {"resources/cpu_cores_used", 1.4},
                                       {"resources/cpu_quota_pct", 70},
                                       {"resources/ram_system_pct", 40},
                                       {"resources/memory_limit_pct", 40},
                                       {"resources/run_queue_wait_pct", 3},
                                       {"resources/throttled_periods_pct", 0},
                                       {"resources/psi_cpu_some_avg10", 2},
                                       {"resources/psi_io_some_avg10", 0},
                                       {"resources/gpu_util_pct", 70},
                                       {"resources/gpu_memory_pct", 50},
                                       {"resources/gpu_clock_event_bits", 1},
                                       {"resources/sm_util_pct", 60},
                                       {"resources/tensor_active_pct", 20}}) {
      Number& n = t.measures[measure];
      n.value = value;
      if (measure.starts_with("resources/")) n.n = 12, n.of = "samples", n.max = value, n.p95 = value;
    }
    for (uint64_t i = 0; i < 6; ++i) t.curves["SPS"].push_back({i + 1, 0, 0, i == 0 ? sps / 2 : sps * (i % 2 ? 1.01 : 0.99)});
    combined_.trials.push_back({std::move(t), group});
    return *this;
  }

  // Of the last trial.
  Batch& Measure(const std::string& name, double value) {
    Number& n = last().measures[name];
    n.value = value;
    if (n.of == "samples") n.max = value, n.p95 = value;
    return *this;
  }
  Batch& Configure(const std::string& path, const nlohmann::json& value) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    last().config[nlohmann::json::json_pointer(pointer)] = value;
    return *this;
  }
  Batch& Speeds(const std::vector<double>& values) {
    std::vector<CurvePoint>& curve = last().curves["SPS"];
    curve.clear();
    for (const double v : values) curve.push_back({curve.size() + 1, 0, 0, v});
    return *this;
  }
  TrialData& last() { return combined_.trials.back().data; }
  Number& Of(const std::string& measure) { return last().measures.at(measure); }
  std::vector<OptionHelp>& options() { return options_; }
  Combined& combined() { return combined_; }

  // Of all trials.
  Batch& Forget(const std::string& prefix) {
    for (CombinedTrial& t : combined_.trials) {
      std::erase_if(t.data.measures, [&](const auto& m) { return m.first.starts_with(prefix); });
    }
    return *this;
  }

  Diagnosis Diagnose() {
    const ParallelEfficiency parallel = Score();
    return backplane::Diagnose(combined_, &parallel, options_);
  }
  Diagnosis DiagnoseWithoutScores() { return backplane::Diagnose(combined_, nullptr, options_); }

 private:
  // Against the group's first trial, which is one row on one core.
  ParallelEfficiency Score() const {
    ParallelEfficiency p;
    for (size_t i = 0; i < combined_.trials.size(); ++i) {
      const auto& [t, group] = combined_.trials[i];
      auto known = std::find_if(p.settings.begin(), p.settings.end(),
                                [&, g = group, name = t.point](const Setting& s) { return s.series == g && s.name == name; });
      if (known != p.settings.end()) {
        known->trials.push_back(i), ++known->usable;
        continue;
      }
      Setting s;
      s.series = group, s.name = t.point, s.trials = {i}, s.usable = t.usable(), s.cores = t.cores.size();
      s.num_env_runners = t.config["rollout"]["num_env_runners"];
      s.num_envs_per_env_runner = t.config["rollout"]["num_envs_per_env_runner"];
      if (t.usable() && t.measures.contains("SPS")) {
        s.sps = t.measures.at("SPS");
        const auto base =
            std::find_if(p.settings.begin(), p.settings.end(), [g = group](const Setting& b) { return b.series == g; });
        s.speedup = base == p.settings.end() ? 1 : s.sps->value / base->sps->value;
        s.core_efficiency_pct = 100 * *s.speedup / static_cast<double>(std::min<uint64_t>(s.num_env_runners, s.cores));
      }
      p.settings.push_back(s);
    }
    return p;
  }

  Combined combined_;
  std::vector<OptionHelp> options_;
};

std::vector<std::string> Ids(const Diagnosis& d) {
  std::vector<std::string> ids;
  for (const Finding& f : d.findings) ids.push_back(f.id);
  return ids;
}

Finding The(const std::string& id, const Diagnosis& d) {
  for (const Finding& f : d.findings)
    if (f.id == id) return f;
  throw std::runtime_error(id + " did not fire");
}

std::string WhySilent(const std::string& id, const Diagnosis& d) {
  for (const SilentRule& s : d.silent)
    if (s.id == id) return s.why;
  return "";
}

// "rollout.threads: 16 -> 2"
std::vector<std::string> Changes(const Finding& f) {
  std::vector<std::string> changes;
  for (const Fix& fix : f.fixes) changes.push_back(fix.path + ": " + fix.from.dump() + " -> " + fix.to.dump());
  return changes;
}

// One rule on both sides of its threshold, and without the evidence that it needs.
struct Edge {
  std::string id;
  std::function<void(Batch&)> above, below;
  std::string needs;  // prefix of the measures; empty: it needs something else
};

std::function<void(Batch&)> With(const std::string& measure, double value) {
  return [=](Batch& b) { b.Measure(measure, value); };
}

// `part` percent of the time in which threads are not idle.
std::function<void(Batch&)> Share(const std::string& phase, double part) {
  return [=](Batch& b) { b.Forget("phase/").Measure("phase/idle", 20).Measure("phase/infer", 1).Measure(phase, 0.8 * part); };
}

std::function<void(Batch&)> Both(std::function<void(Batch&)> a, std::function<void(Batch&)> b) {
  return [a = std::move(a), b = std::move(b)](Batch& batch) { a(batch), b(batch); };
}

// Six equal speeds after the first, but for two that differ by so many percent from the mean.
std::function<void(Batch&)> Spread(double pct) {
  return [=](Batch& b) { b.Speeds({1, 100, 100 + pct, 100, 100 - pct}); };
}

std::function<void(Batch&)> TwiceTheRunners(double sps) {
  return [=](Batch& b) { b.Add("4x1", 4, 1, sps); };
}

const std::vector<Edge>& Edges() {
  static const std::vector<Edge> edges = {
      {"cpu_saturated", With("resources/cpu_quota_pct", 90), With("resources/cpu_quota_pct", 89.9), "resources/cpu_quota_pct"},
      {"cpu_throttled", With("resources/throttled_periods_pct", 5.1), With("resources/throttled_periods_pct", 5),
       "resources/throttled_periods_pct"},
      {"oversubscribed", With("resources/run_queue_wait_pct", 10.1), With("resources/run_queue_wait_pct", 10), "resources/"},
      {"ram_near_limit", With("resources/memory_limit_pct", 90), With("resources/memory_limit_pct", 89.9), "resources/"},
      {"io_stalled", With("resources/psi_io_some_avg10", 20.1), With("resources/psi_io_some_avg10", 20),
       "resources/psi_io_some_avg10"},
      {"speedup_flat", TwiceTheRunners(1900 * 1.099), TwiceTheRunners(1900 * 1.101), "SPS"},
      {"env_bound", Share("phase/env_step", 70.1), Share("phase/env_step", 69.9), "phase/"},
      {"update_bound", Share("phase/update_optim", 50.1), Share("phase/update_optim", 49.9), "phase/"},
      {"sync_overhead", Share("phase/sync", 10.1), Share("phase/sync", 9.9), "phase/"},
      {"transfer_bound", Share("phase/act_transfer", 15.1), Share("phase/act_transfer", 14.9), "phase/"},
      {"gpu_starved", Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 49.9)),
       Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 50)), "resources/gpu_util_pct"},
      {"gpu_saturated", Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 95)),
       Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 94.9)), "resources/gpu_util_pct"},
      {"launch_bound", Both(With("resources/gpu_util_pct", 75), With("resources/sm_util_pct", 29.9)),
       Both(With("resources/gpu_util_pct", 75), With("resources/sm_util_pct", 30)), "resources/sm_util_pct"},
      {"vram_near_limit", With("resources/gpu_memory_pct", 90.1), With("resources/gpu_memory_pct", 90),
       "resources/gpu_memory_pct"},
      {"amp_unused", With("resources/tensor_active_pct", 0.4), With("resources/tensor_active_pct", 0.5),
       "resources/tensor_active_pct"},
      {"clock_throttled", With("resources/gpu_clock_event_bits", 0x41), With("resources/gpu_clock_event_bits", 0x13),
       "resources/gpu_clock_event_bits"},
      {"noisy_measurement", Spread(6.2), Spread(6.1), ""},
      {"blas_reference", With("blas_gflops", 19.9), With("blas_gflops", 20), "blas_gflops"},
      {"threads_mismatch", With("learner_threads", 1), With("learner_threads", 2), "learner_threads"},
  };
  return edges;
}

TEST(Findings, AHealthyCaseHasNone) {
  const Diagnosis d = Batch().Diagnose();
  EXPECT_THAT(Ids(d), IsEmpty());
  EXPECT_TRUE(d.silent.empty()) << d.silent.front().id << ": " << d.silent.front().why;
}

TEST(Findings, EveryRuleFiresAboveItsThresholdAndIsQuietBelow) {
  for (const Edge& edge : Edges()) {
    Batch above, below;
    edge.above(above), edge.below(below);
    const Diagnosis fires = above.Diagnose(), quiet = below.Diagnose();
    EXPECT_THAT(Ids(fires), ::testing::Contains(edge.id));
    EXPECT_THAT(Ids(quiet), ::testing::Not(::testing::Contains(edge.id)));
    EXPECT_EQ("", WhySilent(edge.id, quiet)) << edge.id;
  }
}

TEST(Findings, EveryRuleIsSilentWithoutItsEvidence) {
  for (const Edge& edge : Edges()) {
    if (edge.needs.empty()) continue;
    Batch b;
    b.Forget(edge.needs);
    const Diagnosis d = b.Diagnose();
    EXPECT_NE("", WhySilent(edge.id, d)) << edge.id;
    EXPECT_THAT(Ids(d), ::testing::Not(::testing::Contains(edge.id)));
  }
}

TEST(Findings, EveryRuleIsOnBothSidesOfItsThresholdHereAndExplained) {
  for (const RuleInfo& rule : FindingRules()) {
    const auto edge = std::find_if(Edges().begin(), Edges().end(), [&](const Edge& e) { return e.id == rule.id; });
    ASSERT_NE(Edges().end(), edge) << rule.id << " has no firing and no quiet case";
    EXPECT_TRUE(edge->above && edge->below) << rule.id;
    const std::optional<std::string> text = Explain(rule.id);
    ASSERT_TRUE(text) << rule.id;
    EXPECT_THAT(*text,
                AllOf(HasSubstr(rule.fires_when), HasSubstr(rule.cause), HasSubstr(rule.change), HasSubstr(rule.source)));
  }
  EXPECT_EQ(Edges().size(), FindingRules().size());
  EXPECT_FALSE(Explain("no_such_rule"));
}

TEST(Findings, EachSaysWhatWasMeasuredAndWhatShouldMove) {
  for (const Edge& edge : Edges()) {
    Batch b;
    edge.above(b);
    const Finding f = The(edge.id, b.Diagnose());
    ASSERT_FALSE(f.evidence.empty()) << edge.id;
    EXPECT_FALSE(f.evidence[0].measure.empty() || f.evidence[0].window.empty() || f.evidence[0].unit.empty()) << edge.id;
    EXPECT_FALSE(f.title.empty() || f.cause.empty() || f.effect.empty() || f.confidence.empty()) << edge.id;
    EXPECT_EQ(f.moves.empty(), f.direction == 0) << edge.id;
  }
}

TEST(Findings, SilenceNamesTheMeasureAndTheReason) {
  const Diagnosis d = Batch().Forget("resources/gpu").Diagnose();
  EXPECT_EQ("resources/gpu_util_pct was not measured: no GPU data", WhySilent("gpu_starved", d));
  EXPECT_EQ("the report does not compare runners and rows", WhySilent("speedup_flat", Batch().DiagnoseWithoutScores()));
  EXPECT_EQ("resources/cpu_quota_pct was not measured: no samples of resources",
            WhySilent("cpu_saturated", Batch().Forget("resources/").Diagnose()));
}

TEST(Findings, NothingThatRanIsSilenceThroughout) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials) t.data.state = "FAILED";
  const Diagnosis d = b.Diagnose();
  EXPECT_THAT(Ids(d), IsEmpty());
  EXPECT_EQ(FindingRules().size(), d.silent.size());
  EXPECT_EQ("no trial has a result", d.silent.front().why);
}

TEST(Findings, AValueThatIsNotFiniteIsNoEvidence) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials)
    t.data.measures["resources/cpu_quota_pct"].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(WhySilent("cpu_saturated", b.Diagnose()), HasSubstr("was not measured"));
}

TEST(Findings, ADeviceThatWasNotGrantedIsNotJudged) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials) t.data.gpus = 0;
  b.Measure("resources/gpu_memory_pct", 99);
  const Diagnosis d = b.Diagnose();
  EXPECT_THAT(Ids(d), IsEmpty());
  EXPECT_EQ("the trials were granted no GPU", WhySilent("vram_near_limit", d));
}

TEST(Findings, TheGravestComesFirstThenById) {
  Batch b;
  b.Measure("resources/memory_limit_pct", 95).Measure("resources/psi_io_some_avg10", 30);
  b.Measure("resources/cpu_quota_pct", 95).Measure("resources/throttled_periods_pct", 10);
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("ram_near_limit", "cpu_throttled", "io_stalled", "cpu_saturated"));
}

TEST(Findings, SeveralSettingsAreOneFindingTheStrongestFirst) {
  Batch b;
  b.Measure("resources/throttled_periods_pct", 7);
  b.Add("1x2", 1, 2, 2000).Measure("resources/throttled_periods_pct", 40);
  const Finding f = The("cpu_throttled", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("1x2", "2x1"));
  EXPECT_EQ(40, f.evidence[0].value);
}

TEST(Findings, SeedsOfASettingAreJudgedTogether) {
  Batch b;
  b.Measure("resources/throttled_periods_pct", 8).Add("2x1", 2, 1, 1900, 1).Measure("resources/throttled_periods_pct", 4);
  const Finding f = The("cpu_throttled", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("2x1"));
  EXPECT_EQ(6, f.evidence[0].value);
  EXPECT_EQ("mean over 2 seeds", f.evidence[0].window);
}

TEST(Findings, SettingsOfSeveralMachinesKeepTheirPlaces) {
  Batch b;
  b.combined().groups = {{"left", nullptr}, {"right", nullptr}};
  b.Add("1x1", 1, 1, 500, 0, 1).Measure("resources/throttled_periods_pct", 8);
  EXPECT_THAT(The("cpu_throttled", b.Diagnose()).settings, ElementsAre("1x1 (right)"));
}

TEST(Findings, TheWindowSaysOverWhat) {
  const Finding f = The("cpu_throttled", Batch().Measure("resources/throttled_periods_pct", 8).Diagnose());
  EXPECT_EQ("mean after the first iteration, 12 samples", f.evidence[0].window);
  EXPECT_EQ(5, f.evidence[0].threshold);
}

// Machine.

TEST(Oversubscribed, ThreadsGoDownToTheGrantedCores) {
  Batch b;
  b.Measure("resources/run_queue_wait_pct", 900).Measure("learner_threads", 16).Measure("threads", 16);
  b.Configure("rollout.threads", 16);
  const Finding f = The("oversubscribed", b.Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("rollout.threads: 16 -> 2"));
  EXPECT_EQ("resources/run_queue_wait_pct", f.moves);
  EXPECT_EQ(-1, f.direction);
}

TEST(Oversubscribed, WithNoMoreThreadsThanCoresOthersAreToBlameAndNothingIsProposed) {
  const Finding f = The("oversubscribed", Batch().Measure("resources/psi_cpu_some_avg10", 20.1).Diagnose());
  EXPECT_THAT(f.fixes, IsEmpty());
  EXPECT_THAT(f.cause, HasSubstr("other programs"));
  EXPECT_EQ("resources/psi_cpu_some_avg10", f.moves);
}

TEST(CpuThrottled, TheQuotaAndNotTheCoresLimitsTheThreads) {
  Batch b;
  b.last().cores = {0, 1, 2, 3};
  b.Configure("rollout.threads", 4).Measure("learner_threads", 4).Measure("threads", 4);
  b.Measure("resources/cpu_cores_used", 2)
      .Measure("resources/cpu_quota_pct", 100)
      .Measure("resources/throttled_periods_pct", 50);
  EXPECT_THAT(Changes(The("cpu_throttled", b.Diagnose())), ElementsAre("rollout.threads: 4 -> 2"));
}

TEST(CpuSaturated, FullCoresAreANoteAndMoreOfThemTheFix) {
  Batch b;
  b.combined().groups[0].run["host"]["granted_cores"] = 8;
  const Finding f = The("cpu_saturated", b.Measure("resources/cpu_quota_pct", 99).Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(Changes(f), ElementsAre("resources.cpus: \"auto\" -> 8"));
}

TEST(CpuSaturated, RowsWithoutGainOnBadlyUsedCoresAreAWarning) {
  Batch b;
  b.Measure("SPS", 1050).Measure("resources/cpu_quota_pct", 99);
  const Finding f = The("cpu_saturated", b.Diagnose());
  EXPECT_EQ(Severity::kWarning, f.severity);
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_env_runners: 2 -> 1"));
  EXPECT_EQ("efficiency_pct", f.moves);
}

TEST(RamNearLimit, ThePeakCountsAndRowsGoDown) {
  Batch b;
  b.Add("2x5", 2, 5, 2500);
  b.Of("resources/memory_limit_pct").max = 93;
  EXPECT_THAT(Changes(The("ram_near_limit", b.Diagnose())), ElementsAre("rollout.num_envs_per_env_runner: 5 -> 2"));
}

TEST(RamNearLimit, WithoutALimitItIsTheMachinesMemory) {
  Batch b;
  b.Forget("resources/memory_limit_pct").Measure("resources/ram_system_pct", 95);
  const Finding f = The("ram_near_limit", b.Diagnose());
  EXPECT_EQ("resources/ram_system_pct", f.moves);
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_env_runners: 2 -> 1"));
}

TEST(IoStalled, CheckpointsAreMadeRarerIfThereAreAny) {
  Batch b;
  b.Measure("resources/psi_io_some_avg10", 60);
  EXPECT_THAT(Changes(The("io_stalled", b.Diagnose())), ElementsAre("checkpoint.every_iterations: 5 -> 10"));
  b.Configure("checkpoint.every_iterations", 0);
  EXPECT_THAT(The("io_stalled", b.Diagnose()).fixes, IsEmpty());
}

// Scaling.

TEST(SpeedupFlat, ACoreThatOneRowFillsIsNoBottleneck) {
  Batch b;
  b.Add("2x2", 2, 2, 1920);
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_envs_per_env_runner: 2 -> 1"));
  EXPECT_THAT(f.title, HasSubstr("the last good point is 2x1"));
}

TEST(SpeedupFlat, CoresThatBringNothingAreAWarningThatNamesThePhaseThatGrew) {
  Batch b;
  b.Measure("SPS", 1050).Measure("phase/idle", 50).Measure("phase/env_step", 25);
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_EQ(Severity::kWarning, f.severity);
  EXPECT_THAT(f.cause, HasSubstr("The phase idle grew most, by 30.0 points"));
  EXPECT_NEAR(5, f.evidence[0].value, 1e-9);
  EXPECT_NEAR(52.5, f.evidence[1].value, 1e-9);
}

TEST(SpeedupFlat, StopsAtTheLastGoodPointOfTheAxis) {
  Batch b;
  b.Add("4x1", 4, 1, 1950).Add("8x1", 8, 1, 1900);
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("8x1", "4x1"));
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_env_runners: 8 -> 2"));
}

TEST(SpeedupFlat, AStepOfAnotherFactorIsConvertedToADoubling) {
  // 1.1 x 1.1 for a factor of 4 is 10 % per doubling.
  EXPECT_THAT(Ids(Batch().Add("8x1", 8, 1, 1900 * 1.22).Diagnose()), IsEmpty());
  EXPECT_THAT(Ids(Batch().Add("8x1", 8, 1, 1900 * 1.20).Diagnose()), ElementsAre("speedup_flat"));
}

TEST(SpeedupFlat, SeriesAreNotComparedWithEachOther) {
  Batch b;
  b.combined().groups = {{"left", nullptr}, {"right", nullptr}};
  b.Add("1x1", 1, 1, 900, 0, 1).Add("2x1", 2, 1, 945, 0, 1);
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("2x1 (right)"));
  EXPECT_NEAR(5, f.evidence[0].value, 1e-9);
}

// Phases.

TEST(EnvBound, RunnersGoUpToTheCores) {
  Batch b;
  b.combined().trials.resize(1);
  Share("phase/env_step", 85)(b);
  b.Measure("phase/idle", 50).Measure("phase/env_step", 42);
  const Finding f = The("env_bound", b.Diagnose());
  EXPECT_EQ(Severity::kWarning, f.severity);
  EXPECT_NEAR(84, f.evidence[0].value, 1e-9) << "idle cores do not hide it";
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_env_runners: 1 -> 2"));
  EXPECT_EQ("SPS", f.moves);
  EXPECT_EQ(1, f.direction);
}

TEST(EnvBound, IsANoteWhereAnotherSettingUsesTheCores) {
  Batch b;
  std::swap(b.combined().trials[0], b.combined().trials[1]);
  b.Measure("phase/env_step", 75).Measure("phase/update_backward", 1).Measure("phase/infer", 1);
  const Finding f = The("env_bound", b.Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.cause, HasSubstr("2x1 of this batch uses them"));
}

TEST(EnvBound, WithAllCoresAtWorkTheMachineIsTheLimit) {
  Batch b;
  Share("phase/env_step", 90)(b);
  Finding f = The("env_bound", b.Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.cause, HasSubstr("the machine is the limit"));
  EXPECT_THAT(f.fixes, IsEmpty());
  b.combined().groups[0].run["host"]["granted_cores"] = 4;
  EXPECT_THAT(Changes(The("env_bound", b.Diagnose())), ElementsAre("resources.cpus: \"auto\" -> 4"));
}

TEST(EnvBound, ConfiguredThreadsAreRaisedFirst) {
  Batch b;
  Share("phase/env_step", 90)(b);
  b.Configure("rollout.threads", 1).Measure("threads", 1).Measure("learner_threads", 1);
  EXPECT_THAT(Changes(The("env_bound", b.Diagnose())), ElementsAre("rollout.threads: 1 -> 2"));
}

TEST(UpdateBound, OptionsThatTakeWorkAwayComeFirst) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  EXPECT_THAT(Changes(The("update_bound", b.Diagnose())),
              ElementsAre("learner.options.num_epochs: 10 -> 5", "learner.options.minibatch_size: 128 -> 256"));
}

TEST(UpdateBound, AnOptionAtItsBoundIsNotProposed) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Configure("learner.options.num_epochs", 1);
  b.options()[0].range = "[1,200]";
  EXPECT_THAT(Changes(The("update_bound", b.Diagnose())), ElementsAre("learner.options.minibatch_size: 128 -> 200"));
}

TEST(UpdateBound, FractionsSwitchesAndExcludedBounds) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.options() = {{"update_bound", "learner.options.share", 1, "number", "(0,1]"},
                 {"update_bound", "learner.options.amp", 0, "bool", ""},
                 {"update_bound", "learner.options.minibatch_size", 1, "integer", "auto|[1,200)"},
                 {"update_bound", "learner.options.absent", -1, "integer", ""},
                 {"sync_overhead", "learner.options.num_epochs", -1, "integer", ""}};
  EXPECT_THAT(Changes(The("update_bound", b.Diagnose())),
              ElementsAre("learner.options.share: 0.9 -> 1.0", "learner.options.amp: false -> true",
                          "learner.options.minibatch_size: 128 -> 199"));
}

// GPU.

TEST(GpuStarved, RowsPerRunnerAreDoubled) {
  Batch b;
  Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 20))(b);
  EXPECT_THAT(Changes(The("gpu_starved", b.Diagnose())), ElementsAre("rollout.num_envs_per_env_runner: 1 -> 2"));
}

TEST(GpuSaturated, AwakeWithFewUnitsInUseIsLaunchBound) {
  Batch b;
  Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 99))(b);
  b.Measure("resources/sm_util_pct", 10);
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("launch_bound", "speedup_flat"));
}

TEST(ClockThrottled, AFractionBetweenTwoSamplesHasNoBits) {
  EXPECT_THAT(Ids(Batch().Measure("resources/gpu_clock_event_bits", 4.6).Diagnose()), IsEmpty());
}

// Measurement.

TEST(NoisyMeasurement, TheFirstIterationDoesNotCount) {
  EXPECT_THAT(Ids(Batch().Speeds({10, 1000, 1001, 999}).Diagnose()), IsEmpty());
}

TEST(NoisyMeasurement, FewerThanThreeValuesTellNothing) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials) t.data.curves.clear();
  EXPECT_THAT(WhySilent("noisy_measurement", b.Diagnose()), HasSubstr("fewer than 3"));
}

TEST(NoisyMeasurement, IterationsAreDoubledAndTheirNumberIsSaid) {
  const Finding f = The("noisy_measurement", Batch().Speeds({1, 100, 130, 70}).Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("budget.iterations: 6 -> 12"));
  EXPECT_NEAR(30, f.evidence[0].value, 1e-9);
  EXPECT_EQ("3 iterations after the first", f.evidence[0].window);
}

TEST(NoisyMeasurement, SeedsThatDifferAskForMoreSeeds) {
  Batch b;
  b.Add("2x1", 2, 1, 2300, 1).Add("2x1", 2, 1, 1500, 2);
  const Finding f = The("noisy_measurement", b.Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("sweep.seeds.n: 3 -> 6"));
  EXPECT_EQ("3 seeds", f.evidence[0].window);
}

TEST(NoisyMeasurement, AnOutlierCountsIfItIsFarFromTheMedian) {
  std::vector<double> speeds = {1};
  for (int i = 0; i < 30; ++i) speeds.push_back(1000 + i % 3);
  speeds.push_back(1100);
  const Finding f = The("noisy_measurement", Batch().Speeds(speeds).Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.title, HasSubstr("outliers: 1, far ones: 1"));
  speeds.back() = 1040;
  EXPECT_THAT(Ids(Batch().Speeds(speeds).Diagnose()), IsEmpty());
}

TEST(ThreadsMismatch, APluginThatBearsOneThreadOnlyIsNamedAsTheCause) {
  const Finding f = The("threads_mismatch", Batch().Measure("threads", 1).Diagnose());
  EXPECT_EQ("threads", f.evidence[0].measure);
  EXPECT_EQ(2, f.evidence[0].threshold);
  EXPECT_THAT(f.cause, HasSubstr("ROWS_CONCURRENT"));
}

}  // namespace
}  // namespace backplane
