// Runs `plugin validate` as a user types it: output and exit codes. tests/tools/validate plants the mistakes.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

class ValidateCommand : public ProgramTest {
 protected:
  Finished Validate(const std::string& more) {
    return Run("plugin validate " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_flawed.so " + more);
  }
};

TEST_F(ValidateCommand, PrintsAFailureWithItsFixAndTheCommandThatRepeatsIt) {
  const Finished run = Validate("--case finite-numbers --case flags-are-bits --set flaw=nan --seed 4");
  EXPECT_EQ(run.exit, 1) << run.err;
  for (const char* words :
       {"FAILED   finite-numbers", "rule     Observations, rewards and INFO are finite.", "channel 'reward', element 0 of row",
        "expected a number that is finite", "got      nan", "fix      Check divisions by 0",
        "env_flawed.so --case finite-numbers --seed 4 --set flaw=nan", "PASSED   flags-are-bits", "1 passed, 1 failed"})
    EXPECT_THAT(run.out, HasSubstr(words));
}

TEST_F(ValidateCommand, TheCommandThatRepeatsAFailureFindsTheSamePlugins) {
  const Finished run = Validate("--case finite-numbers --set flaw=nan --limit 40 --plugin-path \"it's here\"");
  EXPECT_THAT(run.out, HasSubstr("--set flaw=nan --limit 40 --plugin-path 'it'\\''s here'"));
}

TEST_F(ValidateCommand, ShowsOnlyFailuresOnRequest) {
  const Finished run = Validate("--case finite-numbers --case flags-are-bits --set flaw=nan --only-failed");
  EXPECT_THAT(run.out, Not(HasSubstr("flags-are-bits")));
  EXPECT_THAT(run.out, HasSubstr("FAILED   finite-numbers"));
}

TEST_F(ValidateCommand, PrintsJsonOfAllThreePluginsOfAFile) {
  const Finished run = Validate("--case create --case takes-a-storm --json --set flaw=throws_in_events");
  EXPECT_EQ(run.exit, 1) << run.err;
  const nlohmann::json answers = nlohmann::json::parse(run.out);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["id"], "env.flawed");
  EXPECT_EQ(answers[0]["cases"][0],
            (nlohmann::json{{"case", "create"}, {"verdict", "PASSED"}, {"seconds", answers[0]["cases"][0]["seconds"]}}));
  EXPECT_EQ(answers[2]["failed"], 1);
  EXPECT_EQ(answers[2]["cases"][1]["verdict"], "FAILED");
  EXPECT_THAT(answers[2]["cases"][1]["found"].get<std::string>(), HasSubstr("from on_events"));
}

TEST_F(ValidateCommand, SpeedIsComparedWithTheInstalledEnvs) {
  const Finished run = Run("plugin validate cartpole --case steps-per-second");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, testing::ContainsRegex("\n  > +[0-9,]+ env\\.cartpole\n"));
  EXPECT_THAT(run.out, testing::ContainsRegex("\n +[0-9,]+ env\\.ant\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("env.uav_grid_tensor"))) << "which needs LibTorch";
}

TEST_F(ValidateCommand, RunsInItsOwnProcessForADebugger) {
  EXPECT_EQ(Validate("--case create --in-process").exit, 0);
  EXPECT_EQ(Validate("--case same-seed-same-bytes --set flaw=fails_in_step --in-process").exit, 1);
  // AddressSanitizer ends a crash with the exit code of a failure.
  if (kSanitized) return;
  EXPECT_NE(Validate("--case same-seed-same-bytes --set flaw=crashes --in-process").exit, 1);
}

TEST_F(ValidateCommand, AHangFailsAfterItsTimeLimit) {
  const Finished run = Validate("--case finite-numbers --set flaw=hangs --limit 5");
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.out, HasSubstr("place    step of rows [0, 4) in slot 0"));
  EXPECT_THAT(run.out, HasSubstr("expected an end within 5 s"));
  EXPECT_THAT(run.out, HasSubstr("got      no return from step"));
  EXPECT_THAT(run.err, HasSubstr("RUNNING  finite-numbers ... (at most 5 s)"));
}

// About twenty cases step the env; only one of them waits for the hang.
TEST_F(ValidateCommand, SkipsCasesOfAFunctionThatHung) {
  const Finished run = Run("plugin validate env.flawed --plugin-path " BACKPLANE_BINARY_DIR
                           "/tests/fixtures/plugins --set flaw=spins_in_step --limit 2");
  EXPECT_EQ(run.exit, 1);
  size_t not_tried = 0;
  const std::string words = "not tried: step hangs\n";
  for (size_t at = run.out.find(words); at != run.out.npos; at = run.out.find(words, at + 1)) ++not_tried;
  EXPECT_GT(not_tried, 15u) << run.out;
  EXPECT_THAT(run.out, HasSubstr(", 1 failed in "));
  EXPECT_THAT(run.out, HasSubstr("PASSED   create "));
  EXPECT_THAT(run.out, HasSubstr("PASSED   options-once "));
}

TEST_F(ValidateCommand, JsonStaysJsonWhileACaseRuns) {
  const Finished run = Validate("--case finite-numbers --case reset-forgets --set flaw=waits_in_reset --limit 3 --json");
  const nlohmann::json answer = nlohmann::json::parse(run.out)[0];
  EXPECT_EQ(answer["cases"][0]["found"], "no return from reset");
  EXPECT_EQ(answer["cases"][1]["verdict"], "SKIPPED");
  EXPECT_EQ(answer["cases"][1]["note"], "not tried: reset hangs");
  EXPECT_THAT(run.err, HasSubstr("RUNNING  finite-numbers"));
}

// The file has three plugins and is loaded for each.
TEST_F(ValidateCommand, LoadsAHangingFileOnce) {
  setenv("FLAWED_FILE", "waits_in_loading", 1);
  const Finished run = Validate("--limit 1 --json");
  unsetenv("FLAWED_FILE");
  EXPECT_EQ(run.exit, 1);
  const nlohmann::json answers = nlohmann::json::parse(run.out);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["failed"], 1);
  EXPECT_EQ(answers[1]["failed"], 0);
  EXPECT_EQ(answers[2]["failed"], 0);
  EXPECT_GT(answers[1]["skipped"], answers[1]["passed"]);
}

// The process of the case has a group of its own, which the terminal's Ctrl-C does not reach.
TEST_F(ValidateCommand, EndsAtASignalWithTheCaseThatHangs) {
  setenv("TMPDIR", dir_.c_str(), 1);
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t pid = Start("plugin validate " BACKPLANE_BINARY_DIR
                            "/tests/fixtures/plugins/env_flawed.so --case create --set flaw=waits_in_create");
    ASSERT_TRUE(Until([&] { return ErrorsOf(pid).find("RUNNING  create") != std::string::npos; })) << ErrorsOf(pid);
    kill(pid, signal);
    EXPECT_EQ(Wait(pid).exit, 128 + signal);
    EXPECT_THAT(Processes({"validate", "flaw=waits_in_create"}), testing::IsEmpty());
    for (const auto& entry : std::filesystem::directory_iterator(dir_))
      EXPECT_FALSE(entry.path().filename().string().starts_with("backplane-")) << entry.path();
  }
  unsetenv("TMPDIR");
}

TEST_F(ValidateCommand, FailsWithExitTwoIfNoCaseCouldRun) {
  const auto refused = [&](const Finished& run, const char* words) {
    EXPECT_EQ(run.exit, 2);
    EXPECT_THAT(run.err, HasSubstr(words));
  };
  refused(Run("plugin validate"), "FILE is required");
  refused(Run("plugin validate no_such_plugin"), "there is no plugin 'no_such_plugin'");
  refused(Run("plugin validate " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_text.so"), "not an ELF file");
  refused(Run("plugin validate text --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins"), "not an ELF file");
  refused(Run("plugin validate " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_unsealed.so"), "is not sealed");
  refused(Validate("--case finite-number"), "did you mean 'finite-numbers'");
  refused(Validate("--set flw=nan"), "did you mean 'flaw'");
  refused(Validate("--set level=many"), "level");
}

}  // namespace
}  // namespace backplane::end_to_end
