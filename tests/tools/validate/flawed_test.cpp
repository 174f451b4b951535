// Each fault is found by the case that is named for it, and correct plugins have no findings.
#include <algorithm>
#include <set>

#include "places.hpp"
#include "validate/by_cause.hpp"
#include "validated.hpp"

namespace backplane {
namespace {

using test_support::Validated;

std::string FileOf(const std::string& name) { return BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/" + name + ".so"; }

struct Flaw {
  const char *id, *flaw, *found_by;
  CaseVerdict verdict = CaseVerdict::kFailed;
};
void PrintTo(const Flaw& flaw, std::ostream* out) { *out << flaw.id << " " << flaw.flaw; }

// A call that hangs must not delay these tests.
constexpr double kPatience_s = 0.7;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitizedHere = true;
#else
constexpr bool kSanitizedHere = false;
#endif

class Flawed : public testing::TestWithParam<Flaw> {};

TEST_P(Flawed, IsFoundByItsCase) {
  const Flaw& flaw = GetParam();
  const std::string by = flaw.found_by;
  if (kSanitizedHere && (by == "leaks-nothing" || by == "step-allocates-nothing"))
    GTEST_SKIP() << "a sanitizer has a malloc of its own";
  Validated plugin(FileOf("env_flawed"), flaw.id);
  plugin.Give("flaw", flaw.flaw);
  const CaseResult result = plugin.Run(flaw.found_by, std::string_view(flaw.flaw).starts_with("hangs") ? kPatience_s : 45);
  // Sanitizers end a crash with an exit code.
  const bool as_good = kSanitizedHere && flaw.verdict == CaseVerdict::kCrashed && result.bad();
  EXPECT_TRUE(result.verdict == flaw.verdict || as_good) << Word(result.verdict) << " " << result.note << "\n  " << result.place
                                                         << "\n  " << result.wanted << "\n  " << result.found;
  EXPECT_NE(result.place, "");
  EXPECT_NE(result.wanted, "");
  EXPECT_NE(result.found, "");
  EXPECT_NE(result.mend, "");
}

constexpr const char *kEnv = "env.flawed", *kLearner = "learner.flawed", *kMonitor = "monitor.flawed";
const Flaw kFlaws[] = {
    {kEnv, "obs_unwritten", "writes-every-output"},
    {kEnv, "reset_unwritten", "writes-every-output"},
    {kEnv, "reward_unwritten", "writes-every-output"},
    {kEnv, "reward_now_and_then", "writes-every-output"},
    {kEnv, "info_unwritten", "writes-every-output"},
    {kEnv, "past_shape", "stays-in-its-buffers"},
    {kEnv, "before_buffer", "stays-in-its-buffers"},
    {kEnv, "far_past", "stays-in-its-buffers"},
    {kEnv, "per_agent", "stays-in-its-buffers"},
    {kEnv, "next_row", "writes-only-its-rows"},
    {kEnv, "all_rows", "writes-only-its-rows"},
    {kEnv, "ignores_mask", "writes-only-its-rows"},
    {kEnv, "reset_writes_reward", "writes-only-its-rows"},
    {kEnv, "clips_action", "writes-only-its-rows"},
    {kEnv, "ignores_strides", "uses-strides"},
    {kEnv, "nan", "finite-numbers"},
    {kEnv, "out_of_bounds", "within-bounds"},
    {kEnv, "flag_2", "flags-are-bits"},
    {kEnv, "mask_empty", "masks-allow"},
    {kEnv, "alive_rises", "alive-falls"},
    {kEnv, "rand", "same-seed-same-bytes"},
    {kEnv, "clock", "same-seed-same-bytes"},
    {kEnv, "static_counter", "same-seed-same-bytes"},
    {kEnv, "reset_keeps", "reset-forgets"},
    {kEnv, "static_state", "instances-share-nothing"},
    {kEnv, "sums_rows", "rows-are-independent"},
    {kEnv, "carries_over", "split-ranges"},
    {kEnv, "scratch", "threads-same-bytes"},
    {kEnv, "reads_obs", "slots-same-bytes"},
    {kEnv, "resets_in_step", "step-never-resets"},
    {kEnv, "counts_limit", "host-counts-the-limit"},
    {kEnv, "allocates", "step-allocates-nothing"},
    {kEnv, "locks", "step-allocates-nothing"},
    {kEnv, "snapshot_lacks", "snapshot-continues"},
    {kEnv, "snapshot_long", "snapshot-continues"},
    {kEnv, "snapshot_shows_nothing", "snapshot-continues"},
    {kEnv, "snapshot_takes_all", "snapshot-refuses", CaseVerdict::kWarning},
    {kEnv, "wrong_dtype", "create"},
    {kEnv, "throws_in_create", "create"},
    {kEnv, "exits_in_destroy", "create"},
    {kEnv, "default_fails", "create"},
    {kEnv, "fails_in_range", "options-in-range"},
    {kEnv, "refuses_without_a_word", "options-in-range"},
    {kEnv, "crashes_in_range", "options-in-range", CaseVerdict::kCrashed},
    {kEnv, "leaks", "leaks-nothing"},
    {kEnv, "leaks_files", "leaks-nothing"},
    {kEnv, "scratch", "two-threads"},
    {kEnv, "wants_this_host", "newer-host"},
    {kEnv, "indexes_frames", "newer-host", CaseVerdict::kCrashed},
    {kEnv, "uses_absent_service", "bare-host", CaseVerdict::kCrashed},
    {kEnv, "fp_mode", "keeps-the-process"},
    {kEnv, "locale", "keeps-the-process"},
    {kEnv, "folder", "keeps-the-process"},
    {kEnv, "signals", "keeps-the-process"},
    {kEnv, "umask", "keeps-the-process"},
    {kEnv, "answers_anything", "unknown-ids"},
    {kEnv, "throws_when_asked", "unknown-ids"},
    {kEnv, "throws_in_step", "same-seed-same-bytes"},
    {kEnv, "fails_in_step", "same-seed-same-bytes"},
    {kEnv, "exits", "same-seed-same-bytes"},
    {kEnv, "hangs", "same-seed-same-bytes"},
    {kEnv, "hangs_alone", "same-seed-same-bytes"},  // its host gets no more messages
    {kEnv, "crashes", "same-seed-same-bytes", CaseVerdict::kCrashed},
    {kLearner, "act_unwritten", "act-writes-its-rows"},
    {kLearner, "act_next_row", "act-writes-its-rows"},
    {kLearner, "act_behind", "act-writes-its-rows"},
    {kLearner, "act_writes_obs", "act-writes-its-rows"},
    {kLearner, "act_nan", "act-is-sound"},
    {kLearner, "act_rand", "act-repeats"},
    {kLearner, "act_reads_all", "act-reads-its-rows"},
    {kLearner, "memory_unwritten", "act-writes-its-rows"},
    {kLearner, "memory_changes_its_input", "act-writes-its-rows"},
    {kLearner, "memory_grows", "act-is-sound"},
    {kLearner, "memory_of_the_output", "memory-reads-its-entry"},
    {kLearner, "memory_hidden", "memory-starts-at-zero"},
    {kLearner, "claims_row_exact", "row-exact"},
    {kLearner, "not_exact", "row-exact"},
    {kLearner, "act_scratch", "act-in-threads"},
    {kLearner, "fits_no_env", "create"},
    {kLearner, "plans_nothing", "learns"},
    {kLearner, "plans_the_unknown", "learns"},
    {kLearner, "ticks_for_ever", "learns"},
    {kLearner, "throws_in_consume", "learns"},
    {kLearner, "weights_nan", "names-its-tensors"},
    {kLearner, "hangs", "learns"},
    {kLearner, "seedless", "same-seed-same-learner"},
    {kLearner, "counts_by_thread", "threads-change-nothing"},
    {kLearner, "scores_by_row", "rows-change-nothing"},
    {kLearner, "follows_progress", "budget-changes-nothing"},
    {kLearner, "follows_iterations", "budget-changes-nothing"},
    {kLearner, "follows_epochs", "budget-changes-nothing"},
    {kLearner, "follows_steps_left", "budget-changes-nothing"},
    {kLearner, "follows_deadline", "budget-changes-nothing"},
    {kLearner, "plans_by_steps_left", "budget-changes-nothing"},
    {kLearner, "divides_by_spread", "constant-reward"},
    {kLearner, "data_mean_of_means", "micro-batches-change-nothing"},
    {kLearner, "data_learns_by_parts", "micro-batches-change-nothing"},
    {kLearner, "data_learns_by_parts", "group-is-whole"},
    {kLearner, "data_learns_from_probes", "group-is-whole"},
    {kLearner, "reads_old_parts", "parts-end-with-consume"},
    {kLearner, "state_lacks", "state-comes-back"},
    {kLearner, "state_has_noise", "state-comes-back"},
    {kLearner, "state_forgets_momentum", "state-continues"},
    {kLearner, "plans_from_before_load", "state-replaces"},
    {kLearner, "load_takes_anything", "state-is-read"},
    {kLearner, "tensors_twice", "names-its-tensors"},
    {kLearner, "policy_lacks", "policy-acts"},
    {kLearner, "policy_without_form", "policy-acts"},
    {kLearner, "start_forgets", "policy-starts"},
    {kLearner, "never_learns", "improves", CaseVerdict::kWarning},
    {kLearner, "leaks", "leaks-nothing"},
    {kLearner, "fp_mode", "keeps-the-process"},
    {kLearner, "wants_this_host", "newer-host"},
    {kLearner, "answers_anything", "unknown-ids"},
    {kMonitor, "blocks", "answers-soon"},
    {kMonitor, "slow_sample", "answers-soon"},
    {kMonitor, "full_after_thousand", "takes-a-storm"},
    {kMonitor, "refuses_unknown", "takes-odd-events"},
    {kMonitor, "reads_null_detail", "takes-odd-events", CaseVerdict::kCrashed},
    {kMonitor, "throws_in_events", "takes-a-storm"},
    {kMonitor, "hangs", "takes-a-storm"},
    {kMonitor, "divides_by_iterations", "ends-without-iterations", CaseVerdict::kCrashed},
    {kMonitor, "finishes_once", "finish-twice"},
    {kMonitor, "frees_twice", "finish-twice", CaseVerdict::kCrashed},
    {kMonitor, "crashes_without_folder", "bears-no-folder", CaseVerdict::kCrashed},
    {kMonitor, "writes_here", "writes-in-its-folder"},
    {kMonitor, "interests_nonsense", "interests", CaseVerdict::kWarning},
    {kMonitor, "verdict_of_three", "verdict"},
    {kMonitor, "verdict_of_8_bytes", "verdict"},
    {kMonitor, "verdict_without_reason", "verdict"},
    {kMonitor, "verdict_in_latin_1", "verdict"},
    {kMonitor, "verdict_before_events", "verdict", CaseVerdict::kWarning},
    {kMonitor, "steps_by_sizeof", "newer-host"},
    {kMonitor, "leaks", "leaks-nothing"},
    {kMonitor, "umask", "keeps-the-process"},
    {kMonitor, "answers_anything", "unknown-ids"},
};
INSTANTIATE_TEST_SUITE_P(Calls, Flawed, testing::ValuesIn(kFlaws), [](const auto& tested) {
  std::string name = std::string(tested.param.id) + "_" + tested.param.flaw + "_" + tested.param.found_by;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

struct FlawedFile {
  const char *file, *found_by;
  CaseVerdict verdict = CaseVerdict::kFailed;
};
void PrintTo(const FlawedFile& flaw, std::ostream* out) { *out << flaw.file; }

class FlawedFiles : public testing::TestWithParam<FlawedFile> {};

TEST_P(FlawedFiles, AreFoundByTheirCase) {
  const std::string file = FileOf(std::string("monitor_") + GetParam().file);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "not built here";
  const CaseResult result = Validated(file, "").Run(GetParam().found_by);
  EXPECT_EQ(result.verdict, GetParam().verdict)
      << Word(result.verdict) << " " << result.note << "\n  " << result.place << "\n  " << result.found;
}

const FlawedFile kFlawedFiles[] = {
    {"exports_more", "exports-one-symbol"},
    {"bundles_libstdcxx", "bundles-nothing"},
    {"uses_openmp", "needs-no-openmp"},
    {"other_runpath", "searches-beside-itself"},
    {"says_another", "section-is-true"},
    {"starts_thread", "loads-quietly"},
    {"leaves_file_open", "loads-quietly"},
    {"api_for_all", "unknown-ids"},
    {"descriptor_beyond", "unknown-ids"},
    {"init_once", "init-twice"},
    {"other_kind", "names-itself"},
    {"no_kind", "names-itself"},
    {"takes_nothing", "takes-something", CaseVerdict::kWarning},
    {"option_twice", "options-once"},
    {"alias_twice", "options-once"},
    {"range_malformed", "ranges"},
    {"range_backwards", "ranges"},
    {"default_outside", "ranges"},
    {"reads_budget_malformed", "ranges"},
    {"helps_no_finding", "helps"},
    {"exits_at_end", "ends-quietly"},
    {"exits_at_end_as_if_good", "ends-quietly"},
    {"crashes_at_end", "ends-quietly", CaseVerdict::kCrashed},
};
INSTANTIATE_TEST_SUITE_P(Files, FlawedFiles, testing::ValuesIn(kFlawedFiles),
                         [](const auto& tested) { return std::string(tested.param.file); });

// The table above has a mistake for each case that can fail.
TEST(Cases, EachFindsSomething) {
  for (const Case& one : AllCases()) {
    const auto finds = [&](const auto& flaw) { return std::string_view(flaw.found_by) == one.name; };
    const bool any = std::ranges::any_of(kFlaws, finds) || std::ranges::any_of(kFlawedFiles, finds);
    const std::vector<std::string> without = {"steps-per-second", "inject-comes-back", "source-keeps-order",
                                              "pictures-change-nothing"};
    EXPECT_NE(any, std::ranges::find(without, one.name) != without.end()) << one.name;
  }
}

TEST(FlawedNot, GoodPluginsHaveNoFindings) {
  for (const char* id : {kEnv, kLearner, kMonitor}) Validated(FileOf("env_flawed"), id).NeedGood();
  Validated(FileOf("monitor_does_nothing"), "").NeedGood();
}

// A step of 64 envs takes a millisecond of CPU time in another thread.
TEST(FlawedNot, ThreadsOfAnEnvCountInItsSpeed) {
  Validated env(FileOf("env_flawed"), kEnv);
  env.Give("flaw", "computes_elsewhere");
  const CaseResult result = env.Run("steps-per-second");
  EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << result.place << ": " << result.found;
  EXPECT_GT(result.steps_per_s, 100);
  EXPECT_LT(result.steps_per_s, 64'000);
}

TEST(FlawedNot, AMonitorMayMakeAFolderPerAttempt) {
  Validated monitor(FileOf("env_flawed"), kMonitor);
  monitor.Give("flaw", "makes_a_folder");
  monitor.NeedGood();
}

TEST(FlawedNot, AMonitorMayEndItsTrial) {
  Validated monitor(FileOf("env_flawed"), kMonitor);
  EXPECT_EQ(monitor.Run("verdict").verdict, CaseVerdict::kSkipped) << "it offers no verdict";
  monitor.Give("flaw", "verdict_after_100_iterations");
  const CaseResult result = monitor.Run("verdict");
  EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << result.place << ": " << result.found;
}

// 16 steps have four parts, and the last is shorter.
TEST(FlawedNot, ALearnerOfPartsHasNoFindings) {
  Validated learner(FileOf("learner_takes_parts"), "");
  learner.Give("part", 5), learner.Give("horizon", 16), learner.Give("learns", true), learner.Give("ticks", 1);
  for (const char* name :
       {"learns", "parts-end-with-consume", "threads-change-nothing", "constant-reward", "state-continues"}) {
    const CaseResult result = learner.Run(name);
    EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << name << " " << result.place << result.note << result.found;
  }
  learner.Give("part", 0);
  EXPECT_EQ(learner.Run("parts-end-with-consume").verdict, CaseVerdict::kSkipped);
}

TEST(FlawedNot, ALearnerWithAMemoryHasNoFindings) {
  Validated learner(FileOf("env_flawed"), kLearner);
  for (const char* name : {"memory-reads-its-entry", "memory-starts-at-zero"})
    EXPECT_EQ(learner.Run(name).verdict, CaseVerdict::kSkipped) << "it has none";
  learner.Give("flaw", "memory_without");
  learner.NeedGood();
  for (const char* name : {"memory-reads-its-entry", "memory-starts-at-zero"})
    EXPECT_EQ(learner.Run(name).verdict, CaseVerdict::kPassed) << name;
  const Validated remembers(FileOf("learner_remembers"), "");
  for (const char* name : {"create", "act-writes-its-rows", "act-is-sound", "act-repeats", "act-reads-its-rows", "row-exact",
                           "act-in-threads", "memory-reads-its-entry", "memory-starts-at-zero", "learns",
                           "threads-change-nothing", "state-comes-back", "policy-acts"}) {
    const CaseResult result = remembers.Run(name);
    EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << name << " " << result.place << result.note << result.found;
  }
}

TEST(FlawedNot, ALearnerOfDataHasNoFindings) {
  Validated learner(FileOf("env_flawed"), kLearner);
  learner.Give("flaw", "data_without");
  for (const char* name : {"micro-batches-change-nothing", "group-is-whole", "state-comes-back", "learns"}) {
    const CaseResult result = learner.Run(name);
    EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << name << " " << result.place << result.note << result.found;
  }
}

// The first of two choices has 2 values, the second 5.
TEST(FlawedNot, EachChoiceOfAnActionHasItsOwnNumber) {
  Validated env(FileOf("env_flawed"), kEnv), learner(FileOf("env_flawed"), kLearner);
  env.Give("flaw", "two_choices");
  learner.setting.env = &env.info();
  learner.setting.env_options = env.setting.options;
  const CaseResult result = learner.Run("act-is-sound");
  EXPECT_EQ(result.verdict, CaseVerdict::kPassed) << result.place << result.note << result.found;
}

CaseResult Bad(const char* name, const char* place, const char* found, const char* cause = "") {
  CaseResult result;
  result.name = name, result.verdict = CaseVerdict::kFailed, result.cause = cause;
  result.place = place, result.found = found;
  return result;
}

TEST(ByCause, CountsCasesThatCrashAtTheSamePlace) {
  const std::vector<CaseResult> results = {Bad("writes-every-output", "step, channel 'obs'", "the previous memory"),
                                           Bad("two-threads", "step of rows [0, 3) in slot 0", "SIGSEGV", kCrashCause),
                                           Bad("finite-numbers", "step of rows [0, 4) in slot 1", "SIGSEGV", kCrashCause)};
  const std::vector<Failure> failures = ByCause(results);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].first->name, "two-threads");
  EXPECT_EQ(failures[0].same, 1u);
  EXPECT_FALSE(failures[0].is_of_rule);
  EXPECT_EQ(failures[1].first->name, "writes-every-output");
}

TEST(ByCause, PutsMemoryBeforeSeedsAndHidesComparisons) {
  const std::vector<CaseResult> results = {Bad("uses-strides", "row 1", "1 and 2"),
                                           Bad("same-seed-same-bytes", "row 0", "3 and 4"),
                                           Bad("writes-every-output", "step", "the previous memory")};
  const std::vector<Failure> failures = ByCause(results);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].first->name, "writes-every-output");
  EXPECT_EQ(failures[0].hidden, 1u);
  EXPECT_EQ(failures[1].first->name, "same-seed-same-bytes");
}

TEST(Cases, HaveNamesInKebabCaseAndEachOnce) {
  std::set<std::string> seen;
  for (const Case& one : AllCases()) {
    EXPECT_TRUE(seen.insert(one.name).second) << one.name;
    EXPECT_TRUE(std::ranges::all_of(std::string(one.name), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }))
        << one.name;
    EXPECT_TRUE(std::string(one.rule).ends_with('.')) << one.name;
  }
}

}  // namespace
}  // namespace backplane
