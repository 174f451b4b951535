// Tools: programs backplane-NAME that `backplane NAME` runs.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Tools : public ProgramTest {
 protected:
  Tools() : path_(std::getenv("PATH")) {
    const std::string folders = (dir_ / "first").string() + ":" + (dir_ / "second").string() + ":";
    setenv("PATH", (folders + path_).c_str(), 1);
  }
  ~Tools() override { setenv("PATH", path_.c_str(), 1); }

  // A shell script as backplane-NAME in a folder.
  void AddTool(const std::string& folder, const std::string& name, const std::string& script) {
    fs::permissions(Write(folder + "/backplane-" + name, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  }
  // Runs a copy of the program, in the test's folder bin.
  Finished RunCopy(const std::string& arguments) {
    fs::create_directories(dir_ / "bin");
    fs::copy_file(BACKPLANE_BINARY_DIR "/bin/backplane", dir_ / "bin/backplane", fs::copy_options::update_existing);
    return Wait(StartCommand("exec bin/backplane " + arguments));
  }

 private:
  const std::string path_;
};

TEST_F(Tools, GetArgumentsAndReturnExitCode) {
  AddTool("first", "hello", "printf '<%s>' \"$@\"; basename \"$BACKPLANE_PROGRAM\"; exit 7");
  const Finished ran = Run("hello 'a b' --json '' --help help");
  EXPECT_EQ(ran.exit, 7);
  EXPECT_EQ(ran.out, "<a b><--json><><--help><help>backplane\n");
  EXPECT_EQ(Run("help hello").out, "<--help>backplane\n");
}

TEST_F(Tools, AreFoundNextToProgramAndThenInOrderOfPath) {
  AddTool("first", "hello", "echo first");
  AddTool("second", "hello", "echo second");
  EXPECT_EQ(RunCopy("hello").out, "first\n");
  fs::permissions(dir_ / "first/backplane-hello", fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(RunCopy("hello").out, "second\n") << "a file that is not executable is no tool";
  fs::remove(dir_ / "first/backplane-hello");
  fs::create_directories(dir_ / "first/backplane-hello");
  EXPECT_EQ(RunCopy("hello").out, "second\n") << "a folder is no tool";
  AddTool("bin", "hello", "echo own");
  EXPECT_EQ(RunCopy("hello").out, "own\n");
}

TEST_F(Tools, NeverReplaceCommandsAndInternalPrograms) {
  for (const char* name : {"config", "new", "shim", "seal", "trial", "Hello", "hello.py", "complete", "-x"})
    AddTool("first", name, "echo replaced");
  EXPECT_EQ(Run("config --help").exit, 0);
  for (const char* words : {"config --help", "new --help", "run-trial --help", "shim", "seal", "trial", "Hello", "hello.py",
                            "complete run --js", "-x"})
    EXPECT_THAT(Run(words).out, Not(HasSubstr("replaced"))) << words;
  EXPECT_THAT(Run("help").out, AllOf(Not(HasSubstr("shim")), Not(HasSubstr("\n  trial ")), Not(HasSubstr("hello.py"))));
}

TEST_F(Tools, AreListedWithTheirLine) {
  AddTool("first", "quick", "[ \"$1\" = --about ] && echo 'Say hello' && echo more");
  AddTool("second", "quick", "echo 'Never shown'");
  AddTool("first", "broken", "echo 'No line'; exit 1");
  AddTool("first", "hangs", "sleep 60; echo late");
  AddTool("second", "hangs-too", "sleep 60");
  const auto begin = std::chrono::steady_clock::now();
  const Finished help = Run("help");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(kSanitized ? 20 : 5));
  EXPECT_EQ(help.exit, 0);
  EXPECT_THAT(help.out, testing::ContainsRegex("\nTools:\n(.*\n)*  quick +Say hello\n"));
  EXPECT_THAT(help.out, testing::ContainsRegex("\n  hangs *\n  hangs-too *\n"));
  EXPECT_THAT(help.out, testing::ContainsRegex("\n  broken *\n"));
  EXPECT_THAT(help.out, Not(testing::ContainsRegex("\n  (author|validate) "))) << "their commands are listed";
  EXPECT_THAT(help.out, AllOf(Not(HasSubstr("Never shown")), Not(HasSubstr("more\n"))));
  EXPECT_EQ(Run("complete hang").out, "hangs\t\nhangs-too\t\n");
}

TEST_F(Tools, ReplaceTheProgramAndGetItsSignals) {
  AddTool("first", "waits", "trap 'exit 9' INT; echo $$ > pid; while :; do sleep 0.02; done");
  const pid_t pid = Start("waits");
  ASSERT_TRUE(Until([&] { return ReadFile(dir_ / "pid") == std::to_string(pid) + "\n"; }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 9);
}

TEST_F(Tools, AreSuggestedIfMistyped) {
  AddTool("first", "hello", "echo ran");
  const Finished typo = Run("helo");
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, HasSubstr("unknown command 'helo'; did you mean 'hello' or 'help'?"));
  EXPECT_THAT(Run("nwe").err, HasSubstr("did you mean 'new'?"));
}

TEST_F(Tools, ReportFileThatCannotStart) {
  AddTool("first", "lost", "");
  Write("first/backplane-lost", "#!/no/such/shell\n");
  const Finished lost = Run("lost");
  EXPECT_EQ(lost.exit, 1);
  EXPECT_THAT(lost.err, HasSubstr("backplane: cannot start " + (dir_ / "first/backplane-lost").string() + ": No such file"));
}

TEST_F(Tools, ReportCommandThatInstallsMissingTool) {
  const std::string missing =
      "backplane: `new` needs backplane-author, which is neither in " + (dir_ / "bin").string() + " nor on PATH\nhint: ";
  const Finished installed = RunCopy("new env my_task");
  EXPECT_EQ(installed.exit, 1);
  EXPECT_EQ(installed.err, missing + "install Backplane's package again with pip or apt, or run `scripts/install --prefix " +
                               dir_.string() + "` in a clone\n");
  Write("CMakeCache.txt", "");
  EXPECT_EQ(RunCopy("help new").err, missing + "`cmake --build " + dir_.string() + " --target backplane-author` builds it\n");
  EXPECT_THAT(RunCopy("help").out, HasSubstr("Create a plugin"));
  EXPECT_THAT(RunCopy("plugin validate env.so").err,
              testing::StartsWith("backplane: `plugin validate` needs backplane-validate, which is neither in "));
  EXPECT_THAT(RunCopy("run-trial trial.json").err, HasSubstr("`run-trial` needs backplane-trial, which is neither in "));
}

TEST_F(Tools, CarryOutSubcommands) {
  EXPECT_THAT(Run("plugin --help").out, AllOf(HasSubstr("list"), HasSubstr("Check a plugin against every rule")));
  EXPECT_EQ(RunCopy("plugin list").exit, 0);
  EXPECT_THAT(Run("help plugin validate").out, HasSubstr("--only-failed"));
  EXPECT_THAT(Run("complete plugin v").out, testing::StartsWith("validate\tCheck a plugin against"));
  EXPECT_THAT(Run("complete plugin validate --only").out, testing::StartsWith("--only-failed\t"));
  EXPECT_THAT(Run("plugin vaildate").err, HasSubstr("did you mean 'validate'?"));
  const Finished cases = Run("plugin validate --cases");
  EXPECT_EQ(cases.exit, 0) << cases.err;
  EXPECT_EQ(Run("validate --cases").out, cases.out);
  EXPECT_EQ(Run("plugin validate -h").out, Run("help validate").out);
}

// The example of docs/guide/tools.md.
TEST_F(Tools, ExampleRunsEachFile) {
  const std::string example = ReadFile(BACKPLANE_SOURCE_DIR "/examples/tools/backplane-run-all");
  EXPECT_THAT(ReadFile(BACKPLANE_SOURCE_DIR "/docs/guide/tools.md"), HasSubstr("```sh\n" + example + "```\n"));
  fs::create_directories(dir_ / "first");
  fs::copy_file(BACKPLANE_SOURCE_DIR "/examples/tools/backplane-run-all", dir_ / "first/backplane-run-all");
  Write("good.yaml", "env: cartpole\nlearner: random\nbudget: {iterations: 2}\nmonitors: []\n");
  Write("bad.yaml", "env: cartpole\n");
  const Finished ran = Run("run-all bad.yaml good.yaml");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("failed: bad.yaml\n"));
  EXPECT_EQ(Result("good").value("outcome", ""), "ok") << ran.err;
  EXPECT_EQ(Run("run-all good.yaml").exit, 0);
}

}  // namespace
}  // namespace backplane::end_to_end
