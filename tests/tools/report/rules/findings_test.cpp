#include <limits>

#include "findings_fixture.hpp"
#include "record/finding_ids.hpp"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One rule on both sides of its threshold, and without its evidence.
struct Edge {
  std::string id;
  std::function<void(Batch&)> above, below;
  std::string needs;  // prefix of the measures; empty: it needs other data
};

// Ten speeds after the first that differ from their mean by this percentage: a standard deviation of sqrt(10 / 9) of it.
std::function<void(Batch&)> Wavering(double pct) {
  return [=](Batch& b) { b.Wavering(10 * pct); };
}

// Actions take `pct` percent of the time in which threads are not idle, for one row at a time; the rest is an update.
std::function<void(Batch&)> Collecting(double pct) {
  return [=](Batch& b) { b.Forget("phase/").Measure("phase/infer", pct).Measure("phase/update_backward", 100 - pct); };
}

// Sets the last trial's precision after four iterations in 8 s.
std::function<void(Batch&)> Precision(double reached_pct, bool missed) {
  return [=](Batch& b) {
    b.Measure("precision/wanted_pct", 5).Measure("precision/reached_pct", reached_pct).Measure("precision/missed", missed);
    b.Measure("precision/iterations", 4).Measure("precision/seconds", 8);
    b.last().config["report"] = {{"precision", "5%"}, {"max_time", "16s"}};
  };
}

std::function<void(Batch&)> SlowUpdates(double seconds) {
  return [seconds](Batch& b) {
    b.Measure("iteration_s", seconds);
    b.options() = {{"slow_updates", "learner.options.gradient_accumulation_steps", -1, "integer", "[0,)"}};
  };
}

const std::vector<Edge>& Edges() {
  static const std::vector<Edge> edges = {
      {"cpu_saturated", With("resources/cpu_quota_pct", 90), With("resources/cpu_quota_pct", 89.9), "resources/cpu_quota_pct"},
      {"cpu_throttled", With("resources/throttled_periods_pct", 5.1), With("resources/throttled_periods_pct", 5),
       "resources/throttled_periods_pct"},
      {"cpu_overheated", With("resources/cpu_heat_throttled_pct", 5.1), With("resources/cpu_heat_throttled_pct", 5),
       "resources/cpu_heat_throttled_pct"},
      {"gpu_memory_errors", With("resources/gpu_ecc_uncorrected", 1), With("resources/gpu_ecc_uncorrected", 0),
       "resources/gpu_ecc_uncorrected"},
      {"oversubscribed", With("resources/run_queue_wait_pct", 10.1), With("resources/run_queue_wait_pct", 10), "resources/"},
      {"ram_near_limit", With("resources/memory_limit_pct", 90), With("resources/memory_limit_pct", 89.9), "resources/"},
      {"io_stalled", With("resources/psi_io_some_pct", 20.1), With("resources/psi_io_some_pct", 20),
       "resources/psi_io_some_pct"},
      {"speedup_flat", TwiceTheRunners(1900 * 1.099), TwiceTheRunners(1900 * 1.101), "SPS"},
      {"env_bound", Share("phase/env_step", 70.1), Share("phase/env_step", 69.9), "phase/"},
      {"collection_bound", Collecting(70.1), Collecting(69.9), "phase/"},
      {"update_bound", Share("phase/update_optim", 50.1), Share("phase/update_optim", 49.9), "phase/"},
      {"sync_overhead", Share("phase/sync", 10.1), Share("phase/sync", 9.9), "phase/"},
      {"transfer_bound", Share("phase/act_transfer", 15.1), Share("phase/act_transfer", 14.9), "phase/"},
      {"gpu_idle", Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 49.9)),
       Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 50)), "resources/gpu_util_pct"},
      {"gpu_saturated", Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 95)),
       Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 94.9)), "resources/gpu_util_pct"},
      {"launch_bound", Both(With("resources/gpu_util_pct", 75), With("resources/sm_util_pct", 29.9)),
       Both(With("resources/gpu_util_pct", 75), With("resources/sm_util_pct", 30)), "resources/sm_util_pct"},
      {"vram_near_limit", With("resources/gpu_memory_pct", 90.1), With("resources/gpu_memory_pct", 90),
       "resources/gpu_memory_pct"},
      {"clock_throttled", With("resources/gpu_throttled_pct", 5.1), With("resources/gpu_throttled_pct", 5),
       "resources/gpu_throttled_pct"},
      {"gpu_use_target", With("resources/gpu_util_pct", 89.9), With("resources/gpu_util_pct", 90), "resources/gpu_util_pct"},
      {"gpu_memory_target", With("resources/gpu_memory_pct", 79.9), With("resources/gpu_memory_pct", 80),
       "resources/gpu_memory_pct"},
      // Windows of ten: the first has mean 4.5, the best 64.5.
      {"unstable_learning", [](Batch& b) { b.FallsTo(34.4); }, [](Batch& b) { b.FallsTo(34.6); }, "floor_uniform/return"},
      {"spread_collapsed", [](Batch& b) { b.FallsTo(0).SpreadFallsTo(0.099); },
       [](Batch& b) { b.FallsTo(0).SpreadFallsTo(0.101); }, "floor_uniform/return"},
      {"slow_updates", Both(Share("phase/update_optim", 60), SlowUpdates(1.01)),
       Both(Share("phase/update_optim", 60), SlowUpdates(0.99)), "iteration_s"},
      {"out_of_memory", [](Batch& b) { b.RunsOutOfMemory(); }, [](Batch&) {}, ""},
      {"noisy_measurement", Wavering(4.75), Wavering(4.74), ""},
      {"precision_not_reached", Precision(5.1, true), Precision(5, false), ""},
      // A setting has four seeds within 0.001 % of each other.
      {"core_efficiency_high", [](Batch& b) { b.Measure("SPS", 2101).Seeded(4, 4, 1e-5); },
       [](Batch& b) { b.Measure("SPS", 2100).Seeded(4, 4, 1e-5); }, "SPS"},
      {"threads_mismatch", With("learner_threads", 1), With("learner_threads", 2), "learner_threads"},
  };
  return edges;
}

TEST(Findings, AreEmptyForAHealthyBatch) {
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

TEST(Findings, TheirIdsEqualThoseThatOptionsCanName) {
  std::vector<std::string> ids;
  for (const RuleInfo& rule : FindingRules()) ids.push_back(rule.id);
  EXPECT_THAT(ids,
              ::testing::UnorderedElementsAreArray(std::vector<std::string>(std::begin(kFindingIds), std::end(kFindingIds))));
}

TEST(Findings, EachHasEvidenceAndAMeasureToImprove) {
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

TEST(Findings, ReportsMissedPrecisionAndProposesMoreTime) {
  Batch b;
  Precision(8.25, true)(b);
  const Finding f = The("precision_not_reached", b.Diagnose());
  EXPECT_EQ("SPS is known to ± 8.2 % after 4 iterations in 8.0 s; report.precision asks for ± 5 %", f.title);
  ASSERT_EQ(1u, f.fixes.size());
  EXPECT_EQ("report.max_time", f.fixes[0].path);
  EXPECT_EQ("32s", f.fixes[0].to);
  b.Forget("precision/reached_pct").Measure("precision/iterations", 1);
  EXPECT_EQ("SPS of 1 iteration in 8.0 s has no interval; report.precision asks for ± 5 %",
            The("precision_not_reached", b.Diagnose()).title);
}

TEST(Findings, ProposeMoreTimeForNoiseIfPrecisionEndsTrials) {
  Batch b;
  Wavering(9)(b);
  EXPECT_EQ("budget.iterations", The("noisy_measurement", b.Diagnose()).fixes.at(0).path);
  b.last().config["report"] = {{"precision", "5%"}, {"max_time", "16s"}};
  EXPECT_EQ("report.max_time", The("noisy_measurement", b.Diagnose()).fixes.at(0).path);
}

TEST(Findings, SilenceNamesTheMeasureAndTheReason) {
  const Diagnosis d = Batch().Forget("resources/gpu").Diagnose();
  EXPECT_EQ("resources/gpu_util_pct was not measured: no GPU data", WhySilent("gpu_idle", d));
  EXPECT_EQ("the report does not compare numbers of runners and envs",
            WhySilent("speedup_flat", Batch().DiagnoseWithoutScores()));
  EXPECT_EQ("resources/cpu_quota_pct was not measured: no resource samples",
            WhySilent("cpu_saturated", Batch().Forget("resources/").Diagnose()));
}

TEST(Findings, WithoutResultsAllRulesStaySilent) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials) t.data.state = TrialState::kFailed;
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

TEST(Findings, TheGravestComesFirstAndTheFurthestBeyondItsThreshold) {
  Batch b;
  b.Measure("resources/memory_limit_pct", 95).Measure("resources/psi_io_some_pct", 99);
  // 5.6 % and 100 % beyond their thresholds, a warning each.
  b.Measure("resources/throttled_periods_pct", 10).Measure("resources/gpu_throttled_pct", 5.28);
  b.Measure("resources/cpu_quota_pct", 95).Measure("resources/cpu_cores_used", 1.9);
  EXPECT_THAT(Ids(b.Diagnose()),
              ElementsAre("ram_near_limit", "cpu_throttled", "clock_throttled", "cpu_saturated", "io_stalled"));
}

TEST(Findings, SettingsConcernedCountAsMuchAsTheDistance) {
  Batch b;
  // Twice its threshold in one setting, 1.6 times its own in two.
  b.Measure("resources/throttled_periods_pct", 10);
  for (CombinedTrial& t : b.combined().trials) t.data.measures["resources/gpu_throttled_pct"].value = 8;
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("clock_throttled", "cpu_throttled"));
}

TEST(Findings, StoragePressureIsNoHeadline) {
  Batch b;
  const Diagnosis d = b.Measure("resources/psi_io_some_pct", 99).Diagnose();
  EXPECT_THAT(Ids(d), ElementsAre("io_stalled"));
  EXPECT_EQ(nullptr, d.Lead());
}

TEST(Findings, OtherProgramsInvalidateOnlyTimes) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Measure("resources/run_queue_wait_pct", 50).Measure("resources/memory_limit_pct", 95);
  const Diagnosis d = b.Diagnose();
  EXPECT_THAT(d.why_void, HasSubstr("while 1 of 2 settings ran"));
  EXPECT_THAT(d.void_trials, ElementsAre("2x1"));
  EXPECT_THAT(The("update_bound", d).confidence, HasSubstr("low"));
  EXPECT_EQ(Severity::kInfo, The("update_bound", d).severity);
  EXPECT_THAT(The("ram_near_limit", d).confidence, HasSubstr("high"));
}

TEST(Findings, ThreadsOfTheSettingInvalidateNoTimes) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Configure("rollout.threads", 16).Measure("threads", 16).Measure("learner_threads", 16);
  b.Measure("resources/run_queue_wait_pct", 900);
  const Diagnosis d = b.Diagnose();
  EXPECT_EQ("", d.why_void);
  EXPECT_THAT(d.void_trials, IsEmpty());
  EXPECT_THAT(The("update_bound", d).confidence, HasSubstr("high"));
}

TEST(Findings, SeveralSettingsAreOneFindingTheStrongestFirst) {
  Batch b;
  b.Measure("resources/throttled_periods_pct", 7);
  b.Add("1x2", 1, 2, 2000).Measure("resources/throttled_periods_pct", 40);
  const Finding f = The("cpu_throttled", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("1x2", "2x1"));
  EXPECT_EQ(40, f.evidence[0].value);
}

TEST(Findings, ADifferentDiagnosisIsAFindingOfItsOwn) {
  Batch b;
  b.Measure("resources/run_queue_wait_pct", 50);
  b.Add("16x1", 16, 1, 40000).Configure("rollout.threads", 16).Measure("threads", 16).Measure("learner_threads", 16);
  b.Measure("resources/run_queue_wait_pct", 900);
  std::vector<Finding> found = b.Diagnose().findings;
  std::erase_if(found, [](const Finding& f) { return f.id != "oversubscribed"; });
  ASSERT_EQ(2u, found.size());
  EXPECT_THAT(found[0].settings, ElementsAre("16x1"));
  EXPECT_THAT(found[0].cause, HasSubstr("16 threads for 2 cores"));
  EXPECT_THAT(found[1].settings, ElementsAre("2x1"));
  EXPECT_THAT(found[1].cause, HasSubstr("other programs"));
  EXPECT_THAT(found[1].fixes, IsEmpty());
}

TEST(Findings, NameABetterSettingThatAlreadyHasTheValue) {
  Batch b;
  b.Measure("SPS", 1050);
  EXPECT_FALSE(The("speedup_flat", b.Diagnose()).fixes.at(0).swept);
  b.Sweep("rollout.num_env_runners");
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_THAT(f.fixes, IsEmpty());
  EXPECT_EQ(Severity::kInfo, f.severity);
  // One row does 1000 steps in its second, two do 1050.
  EXPECT_THAT(f.effect, HasSubstr("; 1x1 of this batch has rollout.num_env_runners 1, and efficiency_pct 100 instead of 52.5"));
  EXPECT_EQ(100, f.evidence.back().value);
}

// 2x1 has 10 epochs, which take 90 % of its time. The other setting has 5, as would be proposed.
Batch HalfTheEpochs(double sps) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.first().config["learner"]["options"]["num_epochs"] = 5;
  b.first().measures["SPS"].value = sps;
  b.Sweep("learner.options.num_epochs");
  return b;
}

TEST(Findings, ChangesThatTheBatchRefutesAreNotProposed) {
  // 1900 steps/s with 10 epochs.
  EXPECT_THAT(Changes(The("update_bound", HalfTheEpochs(1000).Diagnose())),
              ElementsAre("learner.options.minibatch_size: 128 -> 256"));
  const Finding named = The("update_bound", HalfTheEpochs(4000).Diagnose());
  EXPECT_THAT(named.effect, HasSubstr("; 1x1 of this batch has learner.options.num_epochs 5, and SPS 4000 instead of 1900"));
}

TEST(Findings, TwoSeedsOfANeighbourThatIsFasterRefuteNothing) {
  // 2 % apart, a fifth faster: an interval from only two seeds would include both.
  const Finding named = The("update_bound", HalfTheEpochs(2300).Seeded(2, 2, 0.02).Diagnose());
  EXPECT_THAT(named.effect, HasSubstr("1x1 of this batch has learner.options.num_epochs 5, and SPS 2"));
}

TEST(Findings, AFindingDisappearsIfTheBatchRefutesAllItsChanges) {
  Batch b = HalfTheEpochs(1000);
  b.options() = {{"update_bound", "learner.options.num_epochs", -1, "integer", "[1,)"}};
  EXPECT_THAT(Ids(b.Diagnose()), ::testing::Not(::testing::Contains("update_bound")));
}

TEST(Findings, APointThatIsBetterInTheOtherDirectionRefutesAChange) {
  Batch b;
  b.options().push_back({"unstable_learning", "learner.options.share", -1, "number", "(0,)"});
  b.FallsTo(0).Measure("return", 10);
  b.first().config["learner"]["options"]["share"] = 18;
  b.first().measures["return"].value = 60;
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("unstable_learning"));
  b.Sweep("learner.options.share");
  EXPECT_THAT(Ids(b.Diagnose()), IsEmpty());
}

TEST(Findings, ASettingThatDiffersInMoreHasNotTriedTheChange) {
  Batch b;
  b.Measure("SPS", 1050).Sweep("rollout.num_env_runners").Sweep("budget.iterations");
  b.first().values.back().second = 7;
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_THAT(f.effect, ::testing::Not(HasSubstr("of this batch has")));
  EXPECT_TRUE(f.fixes.at(0).swept);
}

TEST(Findings, AChangeIsTriedAtThePointByTheNameThatTheFileHasForIt) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Sweep("learner.options.num_epochs");
  b.last().point = "before", b.last().label = "2 x 1";
  const Finding f = The("update_bound", b.Diagnose());
  EXPECT_THAT(f.settings, ElementsAre("2 x 1"));
  EXPECT_EQ("before", f.fixes.at(0).point);
}

TEST(Findings, AnOptionOfASweptMappingIsSweptToo) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Sweep("learner");
  EXPECT_TRUE(The("update_bound", b.Diagnose()).fixes.at(0).swept);
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
  b.combined().groups = {{"left", {}}, {"right", {}}};
  b.Add("1x1", 1, 1, 500, 0, 1).Measure("resources/throttled_periods_pct", 8);
  EXPECT_THAT(The("cpu_throttled", b.Diagnose()).settings, ElementsAre("1x1 (right)"));
}

TEST(Findings, TheWindowDescribesTheSamples) {
  const Finding f = The("cpu_throttled", Batch().Measure("resources/throttled_periods_pct", 8).Diagnose());
  EXPECT_EQ("mean after the first iteration, 12 samples", f.evidence[0].window);
  EXPECT_EQ(5, f.evidence[0].threshold);
  Batch b;
  b.Measure("resources/throttled_periods_pct", 8).Of("resources/throttled_periods_pct").of = "samples, warm-up included";
  EXPECT_EQ("mean, 12 samples, warm-up included", The("cpu_throttled", b.Diagnose()).evidence[0].window);
}

}  // namespace
}  // namespace backplane
