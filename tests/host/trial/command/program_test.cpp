#include "command/program.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrialSpec SpecWith(std::vector<std::string> words) {
  TrialSpec spec;
  spec.attempt = 2;
  spec.attempt_dir = "/out/trials/x/attempt-2";
  spec.checkpoint_dir = "/out/trials/x/checkpoint";
  spec.experiment.seed = 7;
  spec.experiment.rollout.num_env_runners = 2;
  spec.experiment.rollout.num_envs_per_env_runner = 4;
  spec.experiment.command.words = std::move(words);
  spec.experiment.learner.options = {{"lr", 0.0003}, {"n", 5}, {"name", "a b"}, {"flag", true}};
  return spec;
}

TEST(CommandWords, HaveTheirValues) {
  const auto words = CommandWords(SpecWith({"/bin/sh", "{lr}", "{n}", "{name}", "{flag}", "{seed}", "{attempt}", "{rows}",
                                            "{cpus}", "{trial_dir}", "{checkpoint_dir}", "{{x}}"}),
                                  3);
  EXPECT_THAT(words, ElementsAre("/bin/sh", "0.0003", "5", "a b", "true", "7", "2", "8", "3", "/out/trials/x",
                                 "/out/trials/x/checkpoint", "{x}"));
}

TEST(CommandWords, ContainOptionsAsTheyAreWritten) {
  TrialSpec spec = SpecWith({"/bin/sh", "{lr} {n} {flag}", "{big}"});
  spec.experiment.learner.options["big"] = 1.8446744073709552e19;
  spec.experiment.command.written = {{"lr", "3.0e-4"}, {"flag", "True"}, {"big", "18446744073709551615"}};
  EXPECT_THAT(CommandWords(spec, 1), ElementsAre("/bin/sh", "3.0e-4 5 True", "18446744073709551615"));
}

TEST(CommandWords, TheProgramIsFoundOnPath) {
  EXPECT_THAT(CommandWords(SpecWith({"sh"}), 1).front(), HasSubstr("/sh"));
  const auto why_not = [](const char* program) {
    try {
      CommandWords(SpecWith({program}), 1);
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(why_not("no-such-program"), HasSubstr("got none called 'no-such-program'"));
  EXPECT_THAT(why_not("/no/such"), HasSubstr("got nothing at '/no/such'"));
  EXPECT_THAT(why_not("/etc/passwd"), HasSubstr("got something else at '/etc/passwd'"));
}

TEST(CommandEnds, NameTheirCause) {
  const auto reason = [](int code, int signal, const std::vector<std::string>& lines = {}, bool oom_killed = false) {
    return ReasonOfEnd("/usr/bin/python3", {code, signal, 0}, lines, oom_killed);
  };
  EXPECT_EQ(reason(0, 0).exit, kExitOk);
  EXPECT_EQ(reason(0, 0, {"MemoryError"}).exit, kExitOk) << "it recovered";
  EXPECT_EQ(reason(1, 0, {"a", "KeyError: 'x'"}).error, "python3 ended with exit code 1; its last line: KeyError: 'x'");
  EXPECT_EQ(reason(1, 0).exit, kExitPlugin);
  EXPECT_EQ(reason(0, SIGSEGV).exit, 128 + SIGSEGV);
  EXPECT_EQ(reason(128 + SIGABRT, 0).error, "python3 died of SIGABRT") << "a shell reports it so";
  EXPECT_EQ(reason(200, 0).exit, kExitPlugin);
  EXPECT_EQ(reason(1, 0, {"MemoryError", "at exit"}).exit, kExitHostOom);
  EXPECT_EQ(reason(1, 0, {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8 GiB"}).exit, kExitHostOom);
  EXPECT_EQ(reason(1, 0, {"torch.OutOfMemoryError: CUDA out of memory. Tried to"}).exit, kExitGpuOom);
  EXPECT_EQ(reason(1, 0, {"java.lang.OutOfMemoryError: Java heap space"}).exit, kExitHostOom);
  EXPECT_EQ(reason(0, SIGKILL, {}, /*oom_killed=*/true).exit, kExitHostOom);
  EXPECT_EQ(reason(0, SIGKILL).exit, 128 + SIGKILL);
}

}  // namespace
}  // namespace backplane
