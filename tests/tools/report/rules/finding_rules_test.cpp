// Each rule separately: its proposals, its severity, and cases in which the plain threshold would mislead.
#include <cmath>

#include "findings_fixture.hpp"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Learning.

TEST(UnstableLearning, ProposesTheDeclaredOptions) {
  Batch b;
  b.options().push_back({"unstable_learning", "learner.options.share", -1, "number", "(0,1]"});
  const Finding f = The("unstable_learning", b.FallsTo(0).Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("learner.options.share: 0.9 -> 0.45"));
  EXPECT_THAT(f.title, HasSubstr("rose to 64.5 and fell back to 0"));
}

// As episode_length of ARS, whose 0 is the env's own limit.
TEST(UnstableLearning, A0IsReplacedByHalfOfTheNumberInUse) {
  Batch b;
  b.options().push_back({"unstable_learning", "learner.options.episode_length", -1, "integer", "[0,)", "learner.ars"});
  b.FallsTo(0).Configure("learner.plugin", "ars").Configure("learner.options.episode_length", 0);
  EXPECT_THAT(Changes(The("unstable_learning", b.Diagnose())), IsEmpty()) << "the env has no limit";
  b.last().facts = {"learner.ars dir_chunk 8", "learner.ars episode_length 200"};
  EXPECT_THAT(Changes(The("unstable_learning", b.Diagnose())), ElementsAre("learner.options.episode_length: 0 -> 100"));
}

TEST(UnstableLearning, IsSilentForFewReturnsOrNoise) {
  Batch few;
  few.FallsTo(0).last().curves["return"].resize(39);
  few.combined().trials.erase(few.combined().trials.begin());
  EXPECT_EQ("a return in fewer than 40 iterations", WhySilent("unstable_learning", few.Diagnose()));
  Batch noise;
  std::vector<CurvePoint>& curve = noise.last().curves["return"];
  for (size_t i = 0; i < curve.size(); ++i) curve[i].value = (i % 2 ? 100.0 : -100.0) + (i / 10 == 3 ? 20 : 0);
  EXPECT_THAT(Ids(noise.Diagnose()), IsEmpty());
}

TEST(UnstableLearning, NeedsUpdatesThatMovedThePolicyFar) {
  Batch b;
  b.FallsTo(0);
  for (CurvePoint& point : b.last().curves["train/kl"]) point.value = 4.9e-6;
  EXPECT_THAT(Ids(b.Diagnose()), IsEmpty());
  for (uint64_t i = 0; i < 80; ++i) b.last().curves["train/clip_fraction"].push_back({i + 1, 0, 0, 0.31});
  const Finding f = The("unstable_learning", b.Diagnose());
  EXPECT_EQ("train/clip_fraction", f.evidence.at(1).measure);
  EXPECT_DOUBLE_EQ(0.31, f.evidence.at(1).value);
}

TEST(UnstableLearning, AGainIsMeasuredAboveTheUniformBaseline) {
  // The best is 64.5, 4.5 above the baseline: at 60 all of it is lost, at 63 less than half.
  EXPECT_THAT(Ids(Batch().FallsTo(63).Measure("floor_uniform/return", 60).Diagnose()), IsEmpty());
  EXPECT_THAT(Ids(Batch().FallsTo(34.4).Measure("floor_uniform/return", 64.4).Diagnose()), IsEmpty());
}

// As ARS: no divergence of policies, but a norm of the weights.
TEST(UnstableLearning, GrownWeightsCountForLearnersWithoutADivergence) {
  const auto batch = [](double norm) {
    Batch b;
    b.FallsTo(0).last().curves.erase("train/kl");
    for (uint64_t i = 0; i < 80; ++i) b.last().curves["train/weight_norm"].push_back({i + 1, 0, 0, i < 75 ? 2.0 : norm});
    return b;
  };
  const Finding f = The("unstable_learning", batch(2.5).Diagnose());
  EXPECT_EQ("train/weight_norm", f.evidence.at(1).measure);
  EXPECT_DOUBLE_EQ(1.25, f.evidence.at(1).value);
  EXPECT_THAT(Ids(batch(2.3).Diagnose()), IsEmpty()) << "15 % more";
}

TEST(SpreadCollapsed, ProposesMoreNoiseUnlessTheReturnIsAtItsBest) {
  Batch b;
  b.FallsTo(0).SpreadFallsTo(0.01).last().curves.erase("train/kl");
  b.options() = {{"spread_collapsed", "learner.options.share", 1, "number", "(0,)"},
                 {"spread_collapsed", "learner.options.num_epochs", -1, "integer", "[1,)"}};
  const Finding f = The("spread_collapsed", b.Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("learner.options.num_epochs: 10 -> 5", "learner.options.share: 0.9 -> 1.8"));
  EXPECT_THAT(f.title, HasSubstr("fell from 10 to 0.1"));
  Batch solved;
  solved.SpreadFallsTo(0.01);
  EXPECT_THAT(Ids(solved.Diagnose()), IsEmpty()) << "all candidates are at the best return";
  Batch never;
  never.SpreadFallsTo(0.01);
  for (CurvePoint& point : never.last().curves["return"]) point.value = point.iteration % 2 ? 1 : -1;
  EXPECT_THAT(Ids(never.Diagnose()), ElementsAre("spread_collapsed")) << "no better than random actions";
}

TEST(SlowUpdates, StatesTheSmallerEffectiveBatch) {
  Batch b;
  Share("phase/update_backward", 60)(b);
  b.Measure("iteration_s", 2);
  b.options() = {{"slow_updates", "learner.options.gradient_accumulation_steps", -1, "integer", "[0,)"}};
  const Finding f = The("slow_updates", b.Diagnose());
  EXPECT_THAT(f.title, HasSubstr("2 s for 64 items in 4 parts"));
  EXPECT_THAT(f.effect, HasSubstr("falls from 64 to 32"));
  EXPECT_THAT(Changes(f), ElementsAre("learner.options.gradient_accumulation_steps: 4 -> 2"));
  const std::map<std::string, nlohmann::json> whole = {{"learner.options.effective_batch_size", 32}};
  EXPECT_EQ(whole, f.fixes[0].also) << "without it the sizes contradict each other";
  // If the parts follow from the other sizes, the effective batch is the one to lower.
  b.Configure("learner.options.gradient_accumulation_steps", 0);
  EXPECT_THAT(Changes(The("slow_updates", b.Diagnose())), ElementsAre("learner.options.effective_batch_size: 64 -> 32"));
  b.Configure("learner.options.per_device_train_batch_size", 64);
  EXPECT_THAT(Ids(b.Diagnose()), ::testing::Not(::testing::Contains("slow_updates"))) << "one part has nothing to leave out";
}

TEST(BatchSizes, AChangedMicroBatchKeepsTheUpdate) {
  Batch b;
  b.combined().trials.resize(1);
  Both(Share("phase/update_backward", 60), With("resources/gpu_util_pct", 20))(b);
  b.options() = {{"gpu_idle", "learner.options.per_device_train_batch_size", 1, "integer", "auto|[0,)"}};
  const auto fix = [&b] { return The("gpu_idle", b.Diagnose()).fixes.back(); };
  EXPECT_EQ("learner.options.per_device_train_batch_size", fix().path);
  const std::map<std::string, nlohmann::json> parts = {{"learner.options.gradient_accumulation_steps", 2}};
  EXPECT_EQ(parts, fix().also);
  b.Configure("learner.options.per_device_train_batch_size", 64).Configure("learner.options.gradient_accumulation_steps", 1);
  EXPECT_EQ("rollout.num_env_runners", fix().path) << "128 items do not fit into an update of 64";
}

TEST(UnstableLearning, NeedsMostSeeds) {
  Batch b;
  b.FallsTo(0).Add("2x1", 2, 1, 1900, 1);
  EXPECT_THAT(Ids(b.Diagnose()), IsEmpty());
  b.Add("2x1", 2, 1, 1900, 2).FallsTo(0);
  EXPECT_THAT(The("unstable_learning", b.Diagnose()).confidence, HasSubstr("2 of 3 seeds"));
}

TEST(OutOfMemory, ReducesTheRowsOfAPointWithoutAResult) {
  Batch b;
  b.Add("2x8", 2, 8, 4000).RunsOutOfMemory();
  const Finding f = The("out_of_memory", b.Diagnose());
  EXPECT_EQ(Severity::kSerious, f.severity);
  EXPECT_THAT(f.settings, ElementsAre("2x8"));
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_envs_per_env_runner: 8 -> 4"));
}

TEST(OutOfMemory, HalvesTheLimitOfAGpusMemory) {
  const auto proposed = [](const char* limit, size_t gpus) {
    Batch b;
    b.Add("4x1", 4, 1, 4000).Configure("resources.device_memory", limit).RunsOutOfMemory().last().gpus = gpus;
    return Changes(The("out_of_memory", b.Diagnose()));
  };
  EXPECT_THAT(proposed("85%", 1), ElementsAre("resources.device_memory: \"85%\" -> \"42.5%\""));
  EXPECT_THAT(proposed("3GiB", 1), ElementsAre("resources.device_memory: \"3GiB\" -> \"1536MiB\""));
  EXPECT_THAT(proposed("85%", 0), IsEmpty());
}

TEST(OutOfMemory, UsesFactsOfAnotherTrialWithTheSameLearner) {
  Batch b;
  b.options() = {{"out_of_memory", "learner.options.dir_chunk", -1, "integer", "[0,1000000]", "learner.ars"}};
  b.Configure("learner.plugin", "ars").Configure("learner.options.dir_chunk", 0);
  b.last().facts = {"learner.ars dir_chunk 8"};
  b.Add("2x8", 2, 8, 4000).Configure("learner.plugin", "ars").Configure("learner.options.dir_chunk", 0).RunsOutOfMemory();
  EXPECT_THAT(Changes(The("out_of_memory", b.Diagnose())),
              ElementsAre("rollout.num_envs_per_env_runner: 8 -> 4", "learner.options.dir_chunk: 0 -> 4"));
  b.Configure("learner.options.num_dirs", 16);
  EXPECT_THAT(Changes(The("out_of_memory", b.Diagnose())), ElementsAre("rollout.num_envs_per_env_runner: 8 -> 4"));
}

TEST(OutOfMemory, AnUpdateInSmallerPartsIsAWarning) {
  Batch b;
  b.options().push_back({"out_of_memory", "learner.options.minibatch_size", -1, "integer", "[1,)"});
  b.last().shrinks = {{3, 64, 32, 0, 0}};
  const Finding f = The("out_of_memory", b.Diagnose());
  EXPECT_EQ(Severity::kWarning, f.severity);
  EXPECT_THAT(f.title, HasSubstr("64 items at a time did not fit into the device's memory, 32 did"));
  EXPECT_THAT(Changes(f), ElementsAre("learner.options.minibatch_size: 128 -> 64"));
}

TEST(OutOfMemory, ProposesTheMicroBatchThatFittedAndKeepsTheUpdate) {
  Batch b;
  b.options() = {{"out_of_memory", "learner.options.per_device_train_batch_size", -1, "integer", "auto|[0,)"},
                 {"out_of_memory", "learner.options.gradient_checkpointing", 0, "boolean", ""}};
  b.Configure("learner.options.per_device_train_batch_size", 64).Configure("learner.options.gradient_accumulation_steps", 1);
  b.Configure("learner.options.effective_batch_size", 64).Configure("learner.options.gradient_checkpointing", false);
  b.last().shrinks = {{3, 64, 32, 0, 0}, {4, 32, 16, 0, 0}};
  Finding f = The("out_of_memory", b.Diagnose());
  EXPECT_THAT(f.title, HasSubstr("64 items at a time did not fit into the device's memory, 16 did"));
  EXPECT_THAT(Changes(f), ElementsAre("learner.options.per_device_train_batch_size: 64 -> 16",
                                      "learner.options.gradient_checkpointing: false -> true"));
  // 64 x 1 = 16 x 4
  const std::map<std::string, nlohmann::json> parts = {{"learner.options.gradient_accumulation_steps", 4}};
  EXPECT_EQ(parts, f.fixes.at(0).also);
  // The remaining value follows from the other two.
  b.Configure("learner.options.gradient_accumulation_steps", 0);
  f = The("out_of_memory", b.Diagnose());
  EXPECT_TRUE(f.fixes.at(0).also.empty());
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

TEST(Oversubscribed, WithNoMoreThreadsThanCoresItBlamesOtherPrograms) {
  const Finding f = The("oversubscribed", Batch().Measure("resources/psi_cpu_some_pct", 20.1).Diagnose());
  EXPECT_THAT(f.fixes, IsEmpty());
  EXPECT_THAT(f.cause, HasSubstr("other programs"));
  EXPECT_EQ("resources/psi_cpu_some_pct", f.moves);
}

// A trial so short, or so starved, that its monitor took no sample; the host's own counters show it.
TEST(Oversubscribed, IsSeenWithoutSamples) {
  const Finding f = The("oversubscribed", Batch().Forget("resources/").Measure("time/waiting_for_a_core_pct", 40).Diagnose());
  EXPECT_THAT(f.title, HasSubstr("wait for a core for 40 % of their time"));
  EXPECT_THAT(f.cause, HasSubstr("other programs"));
  Batch sampled;
  sampled.Measure("time/waiting_for_a_core_pct", 40).Measure("resources/run_queue_wait_pct", 2);
  for (const Finding& other : sampled.Diagnose().findings)
    EXPECT_NE("oversubscribed", other.id) << "samples describe the trial at work";
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
  b.combined().groups[0].run.host.granted_cores = 8;
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

TEST(CpuSaturated, FewSamplesAreNoMean) {
  Batch b;
  b.combined().trials.erase(b.combined().trials.begin());
  b.Measure("resources/cpu_quota_pct", 99).Of("resources/cpu_quota_pct").n = 1;
  EXPECT_EQ("resources/cpu_quota_pct: only 1 sample, a mean needs 5", WhySilent("cpu_saturated", b.Diagnose()));
  b.Of("resources/cpu_quota_pct").n = 5;
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("cpu_saturated"));
}

TEST(RamNearLimit, ThePeakCountsAndRowsGoDown) {
  Batch b;
  b.Add("2x5", 2, 5, 2500);
  b.Of("resources/memory_limit_pct").max = 93;
  EXPECT_THAT(Changes(The("ram_near_limit", b.Diagnose())), ElementsAre("rollout.num_envs_per_env_runner: 5 -> 2"));
}

TEST(RamNearLimit, NamesTheControlGroupOnlyIfThereIsOne) {
  Batch b;
  b.Measure("resources/memory_limit_pct", 95);
  b.Add("1x2", 1, 2, 1900).Measure("resources/ram_system_pct", 97).last().measures.erase("resources/memory_limit_pct");
  const Diagnosis d = b.Diagnose();
  EXPECT_THAT(Ids(d), ElementsAre("ram_near_limit", "ram_near_limit"));
  EXPECT_THAT(d.findings[0].settings, ElementsAre("1x2"));
  EXPECT_THAT(d.findings[0].title, HasSubstr("of the machine's"));
  EXPECT_THAT(d.findings[1].confidence, HasSubstr("control group"));
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
  b.Measure("resources/psi_io_some_pct", 60);
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
  EXPECT_THAT(f.cause, AllOf(HasSubstr("slowest chunk"), HasSubstr("without another process")));
  b.Configure("rollout.workers", 2);
  EXPECT_THAT(The("speedup_flat", b.Diagnose()).cause, HasSubstr("2 rollout workers exchange weights"));
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

TEST(SpeedupFlat, ConvertsStepsToDoublings) {
  // 1.1 x 1.1 for a factor of 4 is 10 % per doubling.
  EXPECT_THAT(Ids(Batch().Add("8x1", 8, 1, 1900 * 1.22).Diagnose()), IsEmpty());
  EXPECT_THAT(Ids(Batch().Add("8x1", 8, 1, 1900 * 1.20).Diagnose()), ElementsAre("speedup_flat"));
}

TEST(SpeedupFlat, ConfidenceComesFromTheIntervalOfTheGain) {
  const auto confidence = [](uint64_t n, double sd) {
    Batch b;
    b.Measure("SPS", 1050).Seeded(n, n, sd);
    return The("speedup_flat", b.Diagnose()).confidence;
  };
  // By hand: 1.05 x exp(-+ 2.4469 x 0.01 x sqrt(2 / 4)), Student's t with 2 x 3 degrees of freedom; 2.0244 with 2 x 19.
  EXPECT_THAT(confidence(4, 0.01), HasSubstr("high: the interval of the gain (3.2 to 6.8 %) is below 10 %"));
  EXPECT_THAT(confidence(20, 0.2), HasSubstr("low: the interval of the gain (-7.6 to 19.3 %) includes 10 %"));
  EXPECT_THAT(confidence(2, 0.001), HasSubstr("low: there are too few seeds"));
  EXPECT_THAT(The("speedup_flat", Batch().Measure("SPS", 1050).Diagnose()).confidence,
              HasSubstr("low: there are too few seeds"));
}

TEST(SpeedupFlat, BothSidesNeedTheMeasurements) {
  Batch b;
  b.Measure("SPS", 1050).Seeded(2, 8, 0.005);
  const Finding f = The("speedup_flat", b.Diagnose());
  EXPECT_THAT(f.confidence, HasSubstr("comes from only 2 measurements"));
  EXPECT_THAT(f.evidence[0].window, HasSubstr("2 seeds"));
}

TEST(SpeedupFlat, SeriesAreNotComparedWithEachOther) {
  Batch b;
  b.combined().groups = {{"left", {}}, {"right", {}}};
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

TEST(EnvBound, IsANoteIfADifferentSettingUsesTheCores) {
  Batch b;
  std::swap(b.combined().trials[0], b.combined().trials[1]);
  b.Measure("phase/env_step", 75).Measure("phase/update_backward", 1).Measure("phase/infer", 1);
  const Finding f = The("env_bound", b.Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.cause, HasSubstr("The setting 2x1 of this batch uses all cores"));
}

TEST(EnvBound, WithAllCoresAtWorkTheMachineIsTheLimit) {
  Batch b;
  Share("phase/env_step", 90)(b);
  Finding f = The("env_bound", b.Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.cause, HasSubstr("the machine is the limit"));
  EXPECT_THAT(f.fixes, IsEmpty());
  b.combined().groups[0].run.host.granted_cores = 4;
  EXPECT_THAT(Changes(The("env_bound", b.Diagnose())), ElementsAre("resources.cpus: \"auto\" -> 4"));
}

TEST(EnvBound, ConfiguredThreadsAreRaisedFirst) {
  Batch b;
  Share("phase/env_step", 90)(b);
  b.Configure("rollout.threads", 1).Measure("threads", 1).Measure("learner_threads", 1);
  EXPECT_THAT(Changes(The("env_bound", b.Diagnose())), ElementsAre("rollout.threads: 1 -> 2"));
}

// One runner with one row on two cores: acting is the larger part of collecting.
Batch Sequential() {
  Batch b;
  b.combined().trials.resize(1);
  b.Forget("phase/").Measure("phase/idle", 50).Measure("phase/infer", 30).Measure("phase/env_step", 9);
  b.Measure("phase/env_reset", 1).Measure("phase/update_backward", 10);
  return b;
}

TEST(CollectionBound, FewRowsAndOneRunnerAreBothNamed) {
  Batch b = Sequential();
  const Diagnosis d = b.Diagnose();
  const Finding f = The("collection_bound", d);
  EXPECT_EQ(Severity::kWarning, f.severity);
  EXPECT_EQ("Collecting takes 80 % of the threads' time: action selection 60, envs 20", f.title);
  EXPECT_NEAR(80, f.evidence[0].value, 1e-9) << "idle cores do not hide it";
  EXPECT_EQ(70, f.evidence[0].threshold);
  EXPECT_EQ("One runner collects while 2 cores are granted. Each call acts for one env only, so its fixed cost dominates.",
            f.cause);
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_env_runners: 1 -> 2", "rollout.num_envs_per_env_runner: 1 -> 16"));
  EXPECT_EQ("sampling_sps", f.moves);
  EXPECT_EQ(1, f.direction);
  EXPECT_THAT(Ids(d), testing::Not(testing::Contains("env_bound")));
}

TEST(CollectionBound, IsSilentAtItsThresholdWithEnoughRowsOrSlowEnvs) {
  Batch at = Sequential();
  at.Measure("phase/infer", 25).Measure("phase/update_backward", 15);
  EXPECT_THAT(Ids(at.Diagnose()), testing::Not(testing::Contains("collection_bound")));

  Batch rows = Sequential();
  rows.Configure("rollout.num_envs_per_env_runner", 16).Configure("rollout.num_env_runners", 2);
  EXPECT_THAT(Ids(rows.Diagnose()), testing::Not(testing::Contains("collection_bound"))) << "no option is left to raise";

  Batch envs = Sequential();
  envs.Measure("phase/infer", 2).Measure("phase/env_step", 38);
  EXPECT_THAT(Ids(envs.Diagnose()), testing::Not(testing::Contains("collection_bound")));
  EXPECT_THAT(Ids(envs.Diagnose()), testing::Contains("env_bound"));
}

TEST(CollectionBound, ProposesOnlyRunnersIfActionsAreTheLesserPart) {
  Batch b = Sequential();
  b.Measure("phase/infer", 16).Measure("phase/env_step", 23);  // 40 % of 16 + 23 + 1
  EXPECT_THAT(Changes(The("collection_bound", b.Diagnose())),
              ElementsAre("rollout.num_env_runners: 1 -> 2", "rollout.num_envs_per_env_runner: 1 -> 16"));
  b.Measure("phase/infer", 15).Measure("phase/env_step", 24);
  EXPECT_THAT(Changes(The("collection_bound", b.Diagnose())), ElementsAre("rollout.num_env_runners: 1 -> 2"));
}

TEST(CollectionBound, RunnersOfADifferentSettingAreNotProposed) {
  Batch b = Sequential();
  b.Measure("phase/infer", 15).Measure("phase/env_step", 24);  // only runners can be raised
  b.Add("2x1", 2, 1, 1900);
  EXPECT_THAT(Ids(b.Diagnose()), testing::Not(testing::Contains("collection_bound")));
  b.last().state = TrialState::kFailed;
  EXPECT_THAT(Ids(b.Diagnose()), testing::Contains("collection_bound"));
}

TEST(CollectionBound, SetChunksAreRaisedFirst) {
  Batch b = Sequential();
  b.Configure("rollout.chunk_rows", 2).Configure("rollout.num_envs_per_env_runner", 32).Configure("rollout.num_env_runners", 2);
  const Finding f = The("collection_bound", b.Diagnose());
  EXPECT_THAT(f.cause, HasSubstr("acts for 2 envs only"));
  EXPECT_THAT(f.confidence, HasSubstr("medium")) << "the fixed cost of a call is not measured";
  EXPECT_THAT(Changes(f), ElementsAre("rollout.chunk_rows: 2 -> 16"));
}

TEST(CollectionBound, CountsTheRowsOfAllRunnersIfOneCallActsForThem) {
  Batch b = Sequential();  // as with a plugin that supports only one call at a time
  b.Configure("rollout.num_env_runners", 8).Configure("rollout.num_envs_per_env_runner", 2).Measure("chunk_rows", 16);
  EXPECT_THAT(Ids(b.Diagnose()), testing::Not(testing::Contains("collection_bound"))) << "16 rows a call";
  b.Configure("rollout.num_env_runners", 2).Measure("chunk_rows", 4);
  const Finding f = The("collection_bound", b.Diagnose());
  EXPECT_THAT(f.cause, HasSubstr("acts for 4 envs only"));
  EXPECT_THAT(Changes(f), ElementsAre("rollout.num_envs_per_env_runner: 2 -> 16"));
}

TEST(CollectionBound, IsSilentWithoutPhasesOrCores) {
  Batch b = Sequential();
  b.Forget("phase/");
  EXPECT_THAT(WhySilent("collection_bound", b.Diagnose()), HasSubstr("no phase times"));
}

TEST(UpdateBound, OptionsThatReduceWorkComeFirst) {
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
              ElementsAre("learner.options.share: 0.9 -> 1.0", "learner.options.minibatch_size: 128 -> 199",
                          "learner.options.amp: false -> true"))
      << "switches come last";
}

TEST(UpdateBound, OptionsOfAPluginThatDidNotRunAreNotProposed) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.Configure("learner.plugin", "ppo");
  b.options() = {{"update_bound", "learner.options.num_epochs", -1, "integer", "", "learner.other"},
                 {"update_bound", "learner.options.minibatch_size", 1, "integer", "", "learner.ppo"}};
  EXPECT_THAT(Changes(The("update_bound", b.Diagnose())), ElementsAre("learner.options.minibatch_size: 128 -> 256"));
}

TEST(UpdateBound, AWholeNumberIsNotLoweredTo0) {
  Batch b;
  Share("phase/update_backward", 90)(b);
  b.options() = {{"update_bound", "learner.options.num_epochs", -1, "integer", "[0,)"}};
  EXPECT_THAT(Changes(The("update_bound", b.Configure("learner.options.num_epochs", 3).Diagnose())),
              ElementsAre("learner.options.num_epochs: 3 -> 1"));
  for (const int64_t lowest : {1, 0}) {
    EXPECT_THAT(The("update_bound", b.Configure("learner.options.num_epochs", lowest).Diagnose()).fixes, IsEmpty()) << lowest;
  }
}

// GPU.

TEST(GpuUseTarget, ShowsThePowerWithoutAThreshold) {
  Batch b;
  b.Measure("resources/gpu_util_pct", 40).Measure("resources/gpu_power_w", 220);
  const Finding f = The("gpu_use_target", b.Diagnose());
  ASSERT_EQ(2u, f.evidence.size());
  EXPECT_EQ(90, f.evidence[0].threshold);
  EXPECT_EQ(220, f.evidence[1].value);
  EXPECT_FALSE(f.evidence[1].threshold);
}

TEST(GpuIdle, NamesRowsRunnersBatchesThenSwitches) {
  Batch b;
  b.combined().trials.resize(1);
  Both(Share("phase/env_step", 60), With("resources/gpu_util_pct", 20))(b);
  b.Configure("learner.options.use_amp", "auto");
  b.options() = {{"gpu_idle", "learner.options.use_amp", 0, "choice", "auto|true|false"},
                 {"gpu_idle", "learner.options.minibatch_size", 1, "integer", "[1,)"},
                 {"gpu_saturated", "learner.options.num_epochs", -1, "integer", "[1,)"}};
  const Finding f = The("gpu_idle", b.Diagnose());
  EXPECT_THAT(Changes(f),
              ElementsAre("rollout.num_envs_per_env_runner: 1 -> 2", "rollout.num_env_runners: 1 -> 2",
                          "learner.options.minibatch_size: 128 -> 256", "learner.options.use_amp: \"auto\" -> true"));
  EXPECT_THAT(f.cause, AllOf(HasSubstr("waits for observations"), HasSubstr("by effort and effect")));
  b.Configure("learner.options.use_amp", true);
  EXPECT_THAT(Changes(The("gpu_idle", b.Diagnose())), ::testing::SizeIs(3)) << "it is on already";
}

TEST(GpuIdle, WithoutMuchTimeInEnvsTheWorkIsTooSmall) {
  Batch b;
  Both(Share("phase/update_backward", 60), With("resources/gpu_util_pct", 20))(b);
  EXPECT_THAT(The("gpu_idle", b.Diagnose()).cause, HasSubstr("too little work at a time"));
}

TEST(TransferBound, WithAGpuEachCopyServesMoreRows) {
  Batch b;
  Share("phase/act_transfer", 20)(b);
  EXPECT_THAT(Changes(The("transfer_bound", b.Diagnose())), ElementsAre("rollout.num_envs_per_env_runner: 1 -> 2"));
  for (CombinedTrial& t : b.combined().trials) t.data.gpus = 0;
  EXPECT_THAT(Changes(The("transfer_bound", b.Diagnose())), IsEmpty());
}

TEST(GpuSaturated, AwakeWithFewUnitsInUseIsLaunchBound) {
  Batch b;
  Both(TwiceTheRunners(1900), With("resources/gpu_util_pct", 99))(b);
  b.Measure("resources/sm_util_pct", 10);
  EXPECT_THAT(Ids(b.Diagnose()), ElementsAre("launch_bound", "speedup_flat"));
}

// Measurement.

}  // namespace
}  // namespace backplane
