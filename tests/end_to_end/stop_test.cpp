// Ctrl-C, and resuming afterwards.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "batch.hpp"
#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

class Stop : public ProgramTest {
 protected:
  static constexpr char kLong[] = R"(experiment: long
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {wall_time: 120s}
)";
};

TEST_F(Stop, OneCtrlCEndsTheTrialWithASummary) {
  Write("long.yaml", kLong);
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130) << run.err;
  EXPECT_EQ(Result("long")["state"], "KILLED");
  EXPECT_GT(Result("long")["env_steps"], 0);
  EXPECT_THAT(run.out, testing::HasSubstr("stopped, the same command resumes"));
  EXPECT_TRUE(std::filesystem::exists(Attempt("long").parent_path() / "checkpoint/checkpoint.bin"));
}

TEST_F(Stop, ARunStoppedAndResumedEqualsAnUninterruptedOne) {
  const std::string text = R"(
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 512, minibatch_size: 128, num_epochs: 8, normalize_obs: true, normalize_rewards: true, lr_schedule: linear}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
budget: {iterations: )" + std::to_string(kSanitized ? 24 : 120) +
                           "}\n";
  Write("whole.yaml", "experiment: whole" + text);
  Write("parts.yaml", "experiment: parts" + text);
  ASSERT_EQ(Run("run whole.yaml").exit, 0);
  const pid_t pid = Start("run parts.yaml");
  ASSERT_TRUE(Begins("parts")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  ASSERT_EQ(first.exit, 130) << first.err;
  const Finished second = Run("run parts.yaml");
  ASSERT_EQ(second.exit, 0) << second.err;
  ASSERT_FALSE(Metrics("parts", 2).empty());
  EXPECT_EQ(Metrics("whole").back(), Metrics("parts", 2).back());
  const std::string weights = LearnerState(Attempt("whole").parent_path());
  EXPECT_GT(weights.size(), 1000u);
  EXPECT_TRUE(weights == LearnerState(Attempt("parts").parent_path())) << "the learners' states differ";
}

// The stop comes after the iteration and its line, so the next attempt only repeats the evaluation.
TEST_F(Stop, KeepsIterationWhoseEvaluationItInterrupts) {
  const std::string text = R"(
env: {plugin: misbehaves}
learner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, num_epochs: 2, hidden: [8]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 3}
evaluation: {episodes: 60, every_iterations: 2, env: {options: {sleep_us: )";
  const std::string path = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";
  Write("whole.yaml", "experiment: whole" + text + "1}}}\n");
  Write("parts.yaml", "experiment: parts" + text + "3000}}}\n");
  const Finished whole = Run("run whole.yaml" + path);
  ASSERT_EQ(whole.exit, 0) << whole.err;
  const pid_t pid = Start("run parts.yaml" + path);
  const auto evaluates = [&] {
    return ReadFile(Attempt("parts") / "status").find(std::string("eval") + '\0') != std::string::npos;
  };
  ASSERT_TRUE(Until(evaluates)) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished first = Wait(pid);
  EXPECT_EQ(first.exit, 130) << first.err;
  ASSERT_EQ(Metrics("parts").size(), 1u) << "it was stopped at a different point";
  const std::string kept = ReadFile(Attempt("parts").parent_path() / "checkpoint/checkpoint.bin");
  EXPECT_THAT(kept, testing::AllOf(testing::HasSubstr("\"iterations\":2"), testing::HasSubstr("\"unwritten\":{")));
  const Finished second = Run("run parts.yaml" + path);
  ASSERT_EQ(second.exit, 0) << second.err;
  std::vector<nlohmann::json> lines = Metrics("parts");
  const std::vector<nlohmann::json> rest = Metrics("parts", 2);
  lines.insert(lines.end(), rest.begin(), rest.end());
  EXPECT_EQ(lines, Metrics("whole"));
  EXPECT_TRUE(rest.at(0).contains("eval"));
  const auto resumed = nlohmann::json::parse(ReadFile(Attempt("parts", 2) / "result.json"));
  EXPECT_EQ(resumed["evaluation_returns"], Result("whole")["evaluation_returns"]);
  EXPECT_TRUE(LearnerState(Attempt("whole").parent_path()) == LearnerState(Attempt("parts").parent_path()));
}

// The supervisor answers Ctrl-C, SIGTERM and `stop` whatever it waits for.
class Answer : public Stop {
 protected:
  // In the check of the options, a step of this env waits until a file exists.
  static constexpr char kWaits[] = R"(experiment: waits
env: {plugin: misbehaves, options: {how: wait_in_create, mark: never}}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
monitors: []
)";
  static constexpr double kSoon_s = kSanitized ? 60 : 20;  // other programs may want the cores

  bool Said(pid_t pid, const std::string& text) {
    return Until([&] { return ErrorsOf(pid).find(text) != std::string::npos; }, kSoon_s);
  }
  // The state that an ended run leaves while its trials are still ending.
  int HoldFolder(const std::filesystem::path& out) {
    std::filesystem::create_directories(out);
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    std::ofstream(out / "lock") << R"({"pid": 1, "pid_start": 1, "boot_id": "another", "hostname": ")" << host << "\"}\n";
    const int fd = open((out / "lock").c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
    return fd;
  }
};

TEST_F(Answer, ComesWhileTheFolderIsStillHeld) {
  Write("long.yaml", kLong);
  for (const int signal : {SIGINT, SIGTERM}) {
    const int held = HoldFolder(Out("long"));
    const pid_t pid = Start("run long.yaml");
    ASSERT_TRUE(Said(pid, "waiting for trials in ")) << ErrorsOf(pid);
    kill(pid, signal);
    const Finished run = Wait(pid);
    close(held);
    EXPECT_EQ(run.exit, 130) << run.err;
    EXPECT_THAT(run.err, testing::HasSubstr("stopped before any trial started"));
    EXPECT_FALSE(std::filesystem::exists(Out("long") / "events.jsonl"));
  }
}

TEST_F(Answer, ComesFromARunThatWaitsForTheFolderAtAStop) {
  Write("long.yaml", kLong);
  const pid_t before = Start("run long.yaml");
  ASSERT_TRUE(Begins("long"));
  kill(before, SIGINT);
  Wait(before);
  const int held = HoldFolder(Out("long"));
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Said(pid, "waiting for trials in ")) << ErrorsOf(pid);
  const pid_t stop = Start("stop outputs/long");
  const bool ends = Until([&] { return Processes({"run", "long.yaml"}).empty(); }, kSoon_s);
  if (!ends) kill(pid, SIGKILL);
  EXPECT_TRUE(ends);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_THAT(ReadFile(Out("long") / "lock"), testing::HasSubstr("another")) << "the next run must know that it may wait";
  close(held);
  EXPECT_EQ(Wait(stop).exit, 0);
}

TEST_F(Answer, ComesWhileOptionsAreChecked) {
  Write("waits.yaml", kWaits);
  for (const bool by_stop : {false, true}) {
    const pid_t pid = Start("run waits.yaml" + kWithFixtures);
    ASSERT_TRUE(Until([&] { return !Processes({"--check"}, {kShim}).empty(); })) << ErrorsOf(pid);
    if (by_stop) {
      ASSERT_TRUE(Until([&] { return std::filesystem::exists(Out("waits") / "plan.jsonl"); }));
      EXPECT_EQ(Run("stop outputs/waits").exit, 0);
    } else {
      kill(pid, SIGINT);
    }
    const Finished run = Wait(pid);
    EXPECT_EQ(run.exit, 130) << run.err;
    EXPECT_THAT(run.err, testing::HasSubstr("stopped"));
    EXPECT_TRUE(Until([&] { return Processes({"--check"}).empty(); }));
  }
}

TEST_F(Answer, ComesWhileTheCheckIsStopped) {
  Write("waits.yaml", kWaits);
  const pid_t pid = Start("run waits.yaml" + kWithFixtures);
  ASSERT_TRUE(Until([&] { return !Processes({"--check"}, {kShim}).empty(); })) << ErrorsOf(pid);
  for (const pid_t check : Processes({"--check"}, {kShim})) kill(check, SIGSTOP);
  kill(pid, SIGTERM);
  EXPECT_EQ(Wait(pid).exit, 130);
}

TEST_F(Answer, ComesFromATrialThatIsStoppedWithItsCheckpoint) {
  Write("long.yaml", kLong);
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGSTOP);
  kill(pid, SIGINT);
  EXPECT_TRUE(Said(pid, "stopping after this step"));
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 130) << run.err;
  EXPECT_EQ(Result("long")["state"], "KILLED");
  EXPECT_TRUE(std::filesystem::exists(Attempt("long").parent_path() / "checkpoint/checkpoint.bin"));
}

TEST_F(Answer, ComesFromASupervisorThatIsStopped) {
  Write("long.yaml", kLong);
  const pid_t pid = Start("run long.yaml");
  ASSERT_TRUE(Begins("long")) << ErrorsOf(pid);
  kill(pid, SIGSTOP);
  EXPECT_EQ(Run("stop outputs/long").exit, 0);
  EXPECT_EQ(Wait(pid).exit, 130);
}

TEST_F(Answer, OmitsAReportThatTakesTooLong) {
  Write("long.yaml", kLong);
  auto ended = std::async(std::launch::async, [this] { return RunBesideReportProgram("exec sleep 600", "run long.yaml"); });
  ASSERT_TRUE(Begins("long"));
  for (const pid_t pid : Processes({"run", "long.yaml"})) kill(pid, SIGINT);
  const Finished run = ended.get();
  EXPECT_EQ(run.exit, 130) << run.err;
  EXPECT_THAT(run.err, testing::ContainsRegex("the page was not written: .*later: .* report outputs/long"));
  EXPECT_TRUE(Until([&] { return Processes({"600"}).empty(); }));
}

TEST_F(Answer, SecondCtrlCEndsProcessesThatIgnoreTheFirst) {
  Write("deaf.yaml", std::string("experiment: deaf") + kMisbehaving);
  const pid_t pid = Start("run deaf.yaml --set env.options.how=ignore_sigterm" + kWithFixtures);
  ASSERT_TRUE(Begins("deaf")) << ErrorsOf(pid);
  for (const pid_t shim : Processes({kShim})) kill(shim, SIGSTOP);
  kill(pid, SIGTERM);
  ASSERT_TRUE(Said(pid, "Ctrl-C again ends it"));
  kill(pid, SIGTERM);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_EQ(Result("deaf")["outcome"], "killed");
  EXPECT_TRUE(Until([&] { return TrialProcesses().empty(); }));
}

// A full pipe whose reader does not read.
class FullPipe {
 public:
  explicit FullPipe(const std::filesystem::path& file) {
    EXPECT_EQ(mkfifo(file.c_str(), 0600), 0);
    fd_ = open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const std::string block(4096, 'x');
    while (write(fd_, block.data(), block.size()) > 0) {
    }
  }
  ~FullPipe() { close(fd_); }
  FullPipe(const FullPipe&) = delete;

 private:
  int fd_ = -1;
};

TEST_F(Answer, ComesIfTheTerminalIsBlocked) {
  Write("long.yaml", kLong);
  const FullPipe pipe(dir_ / "pipe");
  const pid_t pid = Start("run long.yaml >pipe 2>pipe");
  ASSERT_TRUE(Begins("long"));
  kill(pid, SIGINT);
  const bool ends = Until([&] { return Processes({"run", "long.yaml"}).empty(); }, kSoon_s);
  if (!ends) kill(pid, SIGKILL);
  EXPECT_TRUE(ends);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_EQ(Result("long")["state"], "KILLED");
}

// It prints notes before and after its trials.
TEST_F(Stop, BatchEndsIfItsErrorsAreNotRead) {
  Write("fails.yaml", std::string("experiment: fails") + kMisbehaving + "sweep: {grid: {env.options.how: [exit, not]}}\n");
  ASSERT_EQ(Run("run fails.yaml" + kWithFixtures).exit, 3);
  const FullPipe pipe(dir_ / "pipe");
  const pid_t pid = Start("run outputs/fails --only-failed 2>pipe");
  const bool ends = Until([&] { return Processes({"run", "--only-failed"}).empty(); });
  if (!ends) kill(pid, SIGKILL);
  EXPECT_TRUE(ends);
  const Finished run = Wait(pid);
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.out, testing::HasSubstr("1 COMPLETED, 1 FAILED"));
}

}  // namespace
}  // namespace backplane::end_to_end
