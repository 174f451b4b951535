// Interrupted and killed batches: their processes end with them, and the same command resumes them.
#include <gmock/gmock.h>
#include <signal.h>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class Interrupted : public BatchTest {};

TEST_F(Interrupted, KillOfSupervisorAndShimLeavesNoProcessAfterTheNextRun) {
  Write("both.yaml", std::string("experiment: both") + kMisbehaving + "sweep: {seeds: {n: 2}}\n");
  const std::string run =
      "run both.yaml --set env.options.how=leave_two --set env.options.mark=left"
      " --set env.options.sleep_us=2000 --set budget.iterations=100000" +
      kWithFixtures;
  const auto helpers = [&] { return Processes({"BACKPLANE_TEST_MARK=left-helper"}); };
  const auto daemons = [&] { return Processes({"BACKPLANE_TEST_MARK=left"}); };
  const pid_t supervisor = Start(run);
  ASSERT_TRUE(Until([&] { return !helpers().empty() && !daemons().empty(); })) << ErrorsOf(supervisor);
  const std::vector<pid_t> shims = Processes({kShim});
  ASSERT_FALSE(shims.empty());
  ASSERT_FALSE(TrialProcesses().empty());
  // Kills the supervisor first and stops the shims, so that no shim can signal its trial.
  for (const pid_t shim : shims) kill(shim, SIGSTOP);
  kill(supervisor, SIGKILL);
  for (const pid_t shim : shims) kill(shim, SIGKILL);
  Wait(supervisor);
  EXPECT_TRUE(Until([&] { return TrialProcesses().empty() && helpers().empty(); }, kSanitized ? 20 : 1));
  const std::vector<pid_t> left = daemons();
  EXPECT_THAT(left, testing::Not(testing::IsEmpty())) << "these processes had their own session";
  const Finished again = Run(run + " --set budget.wall_time=1s");
  EXPECT_THAT(again.err, HasSubstr("killed the processes that an earlier run left: ")) << again.out;
  for (const pid_t daemon : left) EXPECT_THAT(again.err, HasSubstr(std::to_string(daemon) + " (sleep)"));
  EXPECT_THAT(daemons(), testing::IsEmpty());
}

TEST_F(Interrupted, ASecondCtrlCEndsATrialThatIgnoresSignals) {
  Write("deaf.yaml", std::string("experiment: deaf") + kMisbehaving);
  const pid_t pid = Start("run deaf.yaml --set env.options.how=ignore_sigterm" + kWithFixtures);
  ASSERT_TRUE(Begins("deaf")) << ErrorsOf(pid);
  kill(pid, SIGINT);
  ASSERT_TRUE(Until([&] { return ErrorsOf(pid).find("Ctrl-C again ends it") != std::string::npos; }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
  EXPECT_EQ(Result("deaf")["outcome"], "killed");
}

TEST_F(Interrupted, ACtrlCKeepsFinishedTrialsAndTheSameCommandResumes) {
  Write("slow.yaml", std::string("experiment: slow") + kMisbehaving + R"(
sweep: {grid: {env.options.sleep_us: [1000, 1001, 1002, 1003, 1004, 1005]}}
)");
  const std::string run = "run slow.yaml" + kWithFixtures;
  const pid_t pid = Start(run);
  ASSERT_TRUE(Until([&] { return Attempts("slow", "env.options.sleep_us") >= 3; })) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished stopped = Wait(pid);
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  const int before = Attempts("slow", "env.options.sleep_us");
  EXPECT_LT(before, 6);
  EXPECT_EQ(Run(run).exit, 0);
  for (const auto& [value, trial] : States("slow", "env.options.sleep_us")) EXPECT_EQ(trial.state, "COMPLETED") << value;
  EXPECT_LE(Attempts("slow", "env.options.sleep_us"), 7) << "only the stopped trial ran twice";
}

}  // namespace
}  // namespace backplane::end_to_end
