// Envs and learners that break the contract, each in its own process. Every fault has its own error with the right plugin's
// name, and the trial does not count as completed. tests/fixtures/plugins/faults.hpp has the rows of specs.
#include "../fixtures/plugins/faults.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

// A process takes seconds with the thread sanitizer, which finds little in these rows: it runs one in eight.
#if defined(__SANITIZE_THREAD__)
constexpr size_t kEvery = 8;
#else
constexpr size_t kEvery = 1;
#endif

struct Fault {
  const char* name;
  const char* outcome;  // the trial's; "signal" if the process died of one
  const char* blamed;   // "env.faulty", "learner.faulty"
  const char* words;    // part of the error
  const char* actions = "box";
};

constexpr char kEnv[] = "env.faulty", kLearner[] = "learner.faulty";

// Faults of the env, by its option `fault`.
constexpr Fault kEnvFaults[] = {
    {"create_throws", "plugin", kEnv, "threw an exception: out of create"},
    {"create_throws_int", "plugin", kEnv, "threw an exception that is not a std::exception"},
    {"create_status_7", "plugin", kEnv, "create: expected a status from -10 to 0, got 7"},
    {"create_null", "plugin", kEnv, "create: expected an instance, got NULL"},
    {"create_segv", "signal", kEnv, ""},
    {"create_exits", "plugin", kEnv, "called exit()"},
    {"spec_null", "plugin", kEnv, "spec: expected a pointer, got NULL"},
    {"spec_nowhere", "plugin", kEnv, "spec: expected a pointer, got 0x1230, which cannot be read"},
    {"spec_throws", "plugin", kEnv, "threw an exception: out of spec"},
    {"spec_segv", "signal", kEnv, ""},
    {"spec_changes_shape", "plugin", kEnv, "spec has changed: channel 'obs': expected [3]"},
    {"spec_changes_count", "plugin", kEnv, "spec has changed: expected 5 channels as before, got 4"},
    {"spec_changes_name", "plugin", kEnv, "spec has changed: channel 4: expected 'info' as before, got 'other'"},
    {"bind_throws", "plugin", kEnv, "threw an exception: out of bind"},
    {"bind_status_minus_77", "plugin", kEnv, "bind: expected a status from -10 to 0, got -77"},
    {"reset_throws", "plugin", kEnv, "threw an exception: out of reset"},
    {"reset_status_7", "plugin", kEnv, "reset: expected a status"},
    {"reset_before", "plugin", kEnv, "outside these rows of channel 'obs', got 4 bytes before row 0"},
    {"reset_behind", "plugin", kEnv, "outside these rows of channel 'obs'"},
    {"reset_reward", "plugin", kEnv, "reset of rows 0 to 3: expected channel 'reward' unchanged there, got row 0"},
    {"reset_all", "plugin", kEnv, "reset of rows 0 to 3: expected channel 'obs' unchanged there, got row"},
    {"create_bad_alloc", "oom", kEnv, "out of memory"},
    {"reset_bad_alloc", "oom", kEnv, "out of memory"},
    {"step_bad_alloc", "oom", kEnv, "out of memory"},
    {"step_fills_memory", "oom", kEnv, "out of memory"},
    {"step_throws", "plugin", kEnv, "threw an exception: out of step"},
    {"step_throws_int", "plugin", kEnv, "threw an exception that is not"},
    {"step_segv", "signal", kEnv, ""},
    {"step_aborts", "signal", kEnv, ""},
    {"step_exits", "plugin", kEnv, "called exit()"},
    {"step_status_7", "plugin", kEnv, "step: expected a status from -10 to 0, got 7"},
    {"step_cancelled", "plugin", kEnv, "step: returned BP_E_CANCELLED without a request to stop"},
    {"before", "plugin", kEnv, "step of rows 0 to 3: expected nothing written outside these rows of channel 'obs'"},
    {"behind", "plugin", kEnv, "outside channel 'obs', got a change"},
    {"behind_late", "plugin", kEnv, "expected nothing written outside channel 'reward', got a change"},
    {"row_before", "plugin", kEnv,
     "step of rows 4 to 7: expected nothing written outside these rows of channel 'obs', got row 3"},
    {"row_behind", "plugin", kEnv,
     "step of rows 0 to 3: expected nothing written outside these rows of channel 'obs', got row 4"},
    {"reward_of_next", "plugin", kEnv, "of channel 'reward', got row 4 changed"},
    {"flag_of_next", "plugin", kEnv, "of channel 'terminated', got row 4 changed"},
    {"clips_action", "plugin", kEnv, "expected channel 'action' unchanged there, got row 0 changed"},
    {"terminated_7", "plugin", kEnv, "channel 'terminated' of row 0: expected 0 or 1, got 7 at step 1"},
    {"terminated_255", "plugin", kEnv, "channel 'terminated'"},
    {"reward_nan", "nan", kEnv, "the reward of row 0 is not a finite number at step 1"},
    {"reward_inf", "nan", kEnv, "the reward of row 0 is not a finite number at step 1"},
    {"obs_nan", "nan", kEnv, "then: learner.faulty acts: action[0] of row 0: expected a finite number, got nan"},
    {"extension_throws", "plugin", kEnv, "threw an exception: out of extension"},
    {"extension_short", "plugin", kEnv, "extension bp.env.snapshot/1: expected a table of 32 bytes or more, got struct_size 8"},
    {"extension_holes", "plugin", kEnv, "extension bp.env.snapshot/1: expected 3 functions, got NULL as function 2"},
    {"extension_nowhere", "plugin", kEnv, "extension bp.env.snapshot/1: expected a table of functions, got memory that cannot"},
    {"row_bytes_huge", "plugin", kEnv, "row_bytes: expected at most"},
    {"row_bytes_throws", "plugin", kEnv, "out of row_bytes"},
    {"get_behind", "plugin", kEnv, "(row_bytes), got more"},
    {"get_throws", "plugin", kEnv, "out of get"},
    {"get_segv", "signal", kEnv, ""},
    {"source_empty", "plugin", kEnv, "length: expected a data set of 1 to 9007199254740992 items, got 0"},
    {"source_minus", "plugin", kEnv, "items, got 18446744073709551615"},
    {"source_throws", "plugin", kEnv, "out of source"},
};

// Faults of the learner.
constexpr Fault kLearnerFaults[] = {
    {"create_throws", "plugin", kLearner, "out of create"},
    {"create_null", "plugin", kLearner, "create: expected an instance, got NULL"},
    {"create_segv", "signal", kLearner, ""},
    {"spec_null", "plugin", kLearner, "spec: expected a pointer, got NULL"},
    {"spec_throws", "plugin", kLearner, "out of spec"},
    {"spec_changes", "plugin", kLearner, "spec has changed: expected flags 0x0 as before, got 0x2"},
    {"plan_throws", "plugin", kLearner, "out of plan"},
    {"plan_status_7", "plugin", kLearner, "plan: expected a status"},
    {"kind_0", "config", kLearner, "expected a request of kind ROLLOUT, EVALUATE, DATA, TICK, SAVE or DONE, got 0"},
    {"kind_99", "config", kLearner, "expected a request of kind ROLLOUT, EVALUATE, DATA, TICK, SAVE or DONE, got 99"},
    {"horizon_0", "plugin", kLearner, "asks for a rollout of 0 steps"},
    {"horizon_2_63", "oom", kLearner, "asks for a rollout of 9223372036854775808 steps: expected at most"},
    {"horizon_max", "oom", kLearner, "asks for a rollout of 18446744073709551615 steps"},
    {"data_without_source", "config", kLearner, "is not a data set"},
    {"jobs_none", "plugin", kLearner, "expected 1 to 2147483647 candidates, got 0"},
    {"jobs_overflow", "plugin", kLearner, "expected at most 4294967296 episodes"},
    {"jobs_minus", "plugin", kLearner, "got 18446744073709551615"},
    {"jobs_seeds_null", "plugin", kLearner, "got seeds = NULL"},
    {"jobs_seeds_nowhere", "plugin", kLearner, "expected 8 seeds, got memory that cannot be read"},
    {"candidate_nan", "nan", kLearner, "act: action[0] of row 0: expected a finite number, got nan by candidate 0"},
    {"act_throws", "plugin", kLearner, "out of act"},
    {"act_status_7", "plugin", kLearner, "act: expected a status"},
    {"act_bad_alloc", "oom", kLearner, "out of memory"},
    {"consume_bad_alloc", "oom", kLearner, "out of memory"},
    {"consume_fills_memory", "oom", kLearner, "out of memory"},
    {"save_bad_alloc", "oom", kLearner, "out of memory"},
    {"act_segv", "signal", kLearner, ""},
    {"act_nan", "nan", kLearner, "act: action[0] of row 0: expected a finite number, got nan at step 1 of the rollout"},
    {"act_inf", "nan", kLearner, "expected a finite number, got -inf at step 21 of the rollout"},
    {"act_choice_3", "plugin", kLearner, "act: action of row 0: expected a whole number from 0 to 2, got 3 at step 1",
     "discrete"},
    {"act_choice_minus", "plugin", kLearner, "expected a whole number from 0 to 2, got -1 at step 21", "discrete"},
    {"act_choice_huge", "plugin", kLearner, "expected a whole number from 0 to 2, got -2147483648", "discrete"},
    {"act_next_row", "plugin", kLearner,
     "act of rows 0 to 3: expected nothing written outside these rows of channel 'action', got row 4"},
    {"act_row_before", "plugin", kLearner,
     "act of rows 4 to 7: expected nothing written outside these rows of channel 'action', got row 3"},
    {"act_behind", "plugin", kLearner, "outside channel 'extra', got a change"},
    {"act_before", "plugin", kLearner, "outside these rows of channel 'extra', got 4 bytes before row 0"},
    {"act_writes_obs", "plugin", kLearner, "expected channel 'obs' unchanged there, got row 0 changed"},
    {"consume_throws", "plugin", kLearner, "out of consume"},
    {"consume_status_minus_77", "plugin", kLearner, "consume: expected a status"},
    {"consume_segv", "signal", kLearner, ""},
    {"delivery_behind", "plugin", kLearner, "consume: expected nothing written outside channel 'obs'"},
    {"save_nothing", "plugin", kLearner, "save: expected the state of its 1 parameters, got 0 bytes"},
    {"save_throws", "plugin", kLearner, "out of save"},
    {"save_io", "plugin", kLearner, "save:"},
    {"extension_throws", "plugin", kLearner, "out of extension"},
    {"extension_short", "plugin", kLearner,
     "extension bp.learner.state/1: expected a table of 24 bytes or more, got struct_size 12"},
    {"extension_holes", "plugin", kLearner, "extension bp.learner.state/1: expected 2 functions, got NULL as function 1"},
    {"tensors_throws", "plugin", kLearner, "out of tensors"},
    {"tensors_segv", "signal", kLearner, ""},
    {"tensors_io", "plugin", kLearner, "tensors:"},
    {"tensors_device", "plugin", kLearner,
     "extension bp.learner.tensors/1: tensor 'w': expected host memory, got memory of device type 2"},
    {"tensors_negative", "plugin", kLearner, "tensor 'w': expected a size of 0 or more, got -1"},
    {"tensors_no_data", "plugin", kLearner, "tensor 'w': expected data, got NULL"},
    {"tensors_no_strides", "plugin", kLearner, "tensor 'w': expected 1 sizes and strides, got none"},
    {"tensors_no_list", "plugin", kLearner, "extension bp.learner.tensors/1: expected 1 names and tensors, got NULL"},
};

// Faults while loading the state of a checkpoint that was correct when written.
struct LoadFault {
  const char *who, *fault, *words;
};

class Faults : public ProgramTest {
 protected:
  Faults() {
    Write("ok.yaml", R"(experiment: ok
env: {plugin: faulty}
learner: {plugin: faulty}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 4, threads: 2}
budget: {iterations: 2}
evaluation: {episodes: 2}
)");
    ok_ = Run("run ok.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins");
    spec_ = nlohmann::json::parse(ReadFile(Attempt("ok").parent_path() / "trial.json"));
  }

  // Runs the trial with this fault and returns its result, or the remains of one.
  // One thread makes the first faulty block of rows deterministic.
  nlohmann::json Trial(const std::string& who, const std::string& fault, const std::string& actions, const char* check = "",
                       int threads = 1) {
    nlohmann::json spec = spec_;
    spec["config"]["rollout"]["threads"] = threads;
    spec["config"][who]["options"]["fault"] = fault;
    spec["config"]["env"]["options"]["actions"] = actions;
    const std::filesystem::path folder = dir_ / (who + "-" + fault + check);
    spec["attempt_dir"] = folder.string();
    spec["checkpoint_dir"] = (folder / "checkpoint").string();
    Write(folder / "trial.json", spec.dump());
    const Finished run = Run(std::string("run-trial ") + check + " " + (folder / "trial.json").string());
    if (*check) return LastLine(run.out);
    if (run.exit >= 128) return {{"outcome", "signal"}, {"plugin", StatusPlugin(folder)}, {"error", ""}, {"state", "FAILED"}};
    return nlohmann::json::parse(ReadFile(folder / "result.json"), nullptr, false);
  }

  // Resumes the fault-free trial's checkpoint for one more iteration.
  nlohmann::json GoOn(const LoadFault& how) {
    const std::filesystem::path folder = dir_ / (std::string(how.who) + "-" + how.fault);
    std::filesystem::create_directories(folder);
    std::filesystem::copy(Attempt("ok").parent_path() / "checkpoint", folder / "checkpoint");
    spec_["resume"] = true;
    spec_["config"]["budget"]["iterations"] = 3;
    return Trial(how.who, how.fault, "box");
  }
  std::vector<std::string> Checkpoints(const LoadFault& how) const {
    std::vector<std::string> names;
    const std::filesystem::path folder = dir_ / (std::string(how.who) + "-" + how.fault) / "checkpoint";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
  }

  static nlohmann::json LastLine(std::string out) {
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return nlohmann::json::parse(out.substr(out.rfind('\n') + 1), nullptr, false);
  }

  // Id of the plugin whose code ran last, "env.faulty" or "learner.faulty", read from the mapped file that survives a crash.
  static std::string StatusPlugin(const std::filesystem::path& folder) {
    const std::string status = ReadFile(folder / "status");
    return status.find(kLearner) != std::string::npos ? kLearner : status.find(kEnv) != std::string::npos ? kEnv : "";
  }

  void Expect(const std::string& who, const Fault& fault) {
    if (kSanitized && std::string(fault.name).ends_with("fills_memory")) return;  // a sanitizer ends the process itself
    SCOPED_TRACE(who + ": " + fault.name);
    const nlohmann::json result = Trial(who, fault.name, fault.actions);
    ASSERT_TRUE(result.is_object());
    const std::string error = result["error"].is_string() ? result["error"].get<std::string>() : "";
    std::printf("%-8s %-24s %-8s %-16s %s\n", who.c_str(), fault.name, result["outcome"].get<std::string>().c_str(),
                result["plugin"].get<std::string>().c_str(), error.c_str());
    EXPECT_NE(result["state"], "COMPLETED");
    EXPECT_EQ(result["outcome"], fault.outcome) << error;
    EXPECT_EQ(result["plugin"], fault.blamed) << error;
    EXPECT_THAT(error, HasSubstr(fault.words));
  }

  Finished ok_;
  nlohmann::json spec_;
};

TEST_F(Faults, ATrialWithoutAFaultCompletes) {
  EXPECT_EQ(ok_.exit, 0) << ok_.err;
  for (const char* actions : {"box", "discrete"})
    EXPECT_EQ(Trial("env", std::string("none-") + actions, actions)["outcome"], "ok");
}

TEST_F(Faults, AMalformedSpecHasItsOwnError) {
  std::set<std::string> sentences;
  size_t rows = 0;
  const auto expect = [&](const char* who, const char* blamed, const char* name, const char* words) {
    Expect(who, {name, "plugin", blamed, words});
    const nlohmann::json checked = Trial(who, name, "box", "--check");
    ASSERT_TRUE(checked.is_object()) << name;
    EXPECT_NE(checked["outcome"], "ok") << name;
    EXPECT_EQ(checked["plugin"], blamed) << name;
    EXPECT_THAT(checked["error"].get<std::string>(), HasSubstr(words)) << name;
    sentences.insert(checked["error"].get<std::string>());
    ++rows;
  };
  for (size_t i = 0; i < std::size(faults::kEnvSpecs); i += kEvery)
    expect("env", kEnv, faults::kEnvSpecs[i].name, faults::kEnvSpecs[i].words);
  EXPECT_GE(rows, 60u / kEvery);
  EXPECT_GE(sentences.size(), rows - 8) << "most faults have their own sentence";
}

TEST_F(Faults, ALearnersMalformedSpecHasItsOwnError) {
  for (size_t i = 0; i < std::size(faults::kLearnerSpecs); i += kEvery) {
    const auto& fault = faults::kLearnerSpecs[i];
    const nlohmann::json result = Trial("learner", fault.name, "box");
    ASSERT_TRUE(result.is_object()) << fault.name;
    EXPECT_NE(result["state"], "COMPLETED") << fault.name;
    EXPECT_EQ(result["plugin"], kLearner) << fault.name;
    EXPECT_THAT(result["error"].get<std::string>(), HasSubstr(fault.words)) << fault.name;
  }
}

TEST_F(Faults, AnEnvThatBreaksTheContractIsNamed) {
  for (size_t i = 0; i < std::size(kEnvFaults); i += kEvery) Expect("env", kEnvFaults[i]);
}

TEST_F(Faults, ALearnerThatBreaksTheContractIsNamed) {
  for (size_t i = 0; i < std::size(kLearnerFaults); i += kEvery) Expect("learner", kLearnerFaults[i]);
}

TEST_F(Faults, OnSeveralThreadsTheSameOneIsNamed) {
  const auto blamed = [&](const char* who, const char* fault) {
    const nlohmann::json result = Trial(who, fault, "box", "", 2);
    return result.is_object() ? result.value("plugin", "") + " " + result.value("outcome", "") : "no result";
  };
  constexpr const char* by_env[] = {"row_before",   "row_behind",   "behind",      "before",
                                    "clips_action", "reset_reward", "terminated_7"};
  constexpr const char* by_learner[] = {"act_next_row", "act_row_before", "act_behind", "act_writes_obs"};
  constexpr size_t every = kLooksForRaces ? 4 : 1;  // two faults of the env and one of the learner
  for (size_t i = 0; i < std::size(by_env); i += every) EXPECT_EQ(blamed("env", by_env[i]), "env.faulty plugin") << by_env[i];
  for (size_t i = 0; i < std::size(by_learner); i += every)
    EXPECT_EQ(blamed("learner", by_learner[i]), "learner.faulty plugin") << by_learner[i];
  EXPECT_EQ(blamed("learner", "act_nan"), "learner.faulty nan");
}

TEST_F(Faults, ARejectedStateIsSetAside) {
  constexpr LoadFault faults[] = {{"learner", "load_refuses", "load"}, {"env", "set_refuses", "restore"}};
  for (const LoadFault& how : faults) {
    SCOPED_TRACE(how.fault);
    const nlohmann::json result = GoOn(how);
    ASSERT_TRUE(result.is_object());
    EXPECT_EQ(result["outcome"], "ok") << result["error"];
    EXPECT_EQ(result["iterations"], 3);
    EXPECT_THAT(result["warnings"].dump(), testing::AllOf(HasSubstr(how.words), HasSubstr("the trial starts from scratch")));
    EXPECT_THAT(Checkpoints(how), testing::Contains(HasSubstr(".damaged")));
  }
}

// Any checkpoint would fail the same way: only the attempt is lost, and the checkpoint stays.
TEST_F(Faults, APluginThatBreaksDuringALoadCostsNoCheckpoint) {
  constexpr LoadFault faults[] = {{"learner", "load_throws", "threw an exception: out of load"},
                                  {"learner", "load_status_7", "load: expected a status from -10 to 0, got 7"},
                                  {"env", "set_throws", "threw an exception: out of set"},
                                  {"env", "set_status_7", "restore: expected a status from -10 to 0, got 7"}};
  for (const LoadFault& how : faults) {
    SCOPED_TRACE(how.fault);
    const nlohmann::json result = GoOn(how);
    ASSERT_TRUE(result.is_object());
    EXPECT_EQ(result["outcome"], "plugin");
    EXPECT_EQ(result["plugin"], std::string(how.who) + ".faulty");
    EXPECT_THAT(result["error"].get<std::string>(), HasSubstr(how.words));
    EXPECT_THAT(Checkpoints(how), testing::Each(testing::Not(HasSubstr(".damaged"))));
  }
}

TEST_F(Faults, ADestroyThatFailsIsFoundByTheCheckAndLosesNoResult) {
  for (const auto& [who, blamed] : {std::pair{"env", kEnv}, {"learner", kLearner}}) {
    EXPECT_EQ(Trial(who, "destroy_throws", "box")["outcome"], "ok");
    EXPECT_EQ(Trial(who, "destroy_segv", "box")["outcome"], "ok");
    const nlohmann::json checked = Trial(who, "destroy_throws", "box", "--check");
    EXPECT_EQ(checked["outcome"], "plugin");
    EXPECT_EQ(checked["plugin"], blamed);
    EXPECT_THAT(checked["error"].get<std::string>(), HasSubstr("threw an exception: out of destroy"));
  }
}

}  // namespace
}  // namespace backplane::end_to_end
