#include "input/report_program.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Replaces backplane-report by shell scripts.
class ReportProgramTest : public testing::Test {
 protected:
  ~ReportProgramTest() override { fs::remove(file_); }

  ReportProgram Program(const std::string& script, std::chrono::milliseconds limit = 60s) const {
    std::ofstream(file_) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file_, fs::perms::owner_all);
    return {file_, limit};
  }
  static std::string WhyNot(const ReportProgram& program) {
    try {
      return "answered: " + program.Ask("--make", {{"folders", {"a"}}});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  const fs::path file_ = fs::path(testing::TempDir()) / ("report_program_" + std::to_string(getpid()));
};

TEST_F(ReportProgramTest, AnswersRequests) {
  EXPECT_EQ("answered: --make {\"folders\":[\"a\"]}", WhyNot(Program("echo -n \"$1 \"; cat")));
}

TEST_F(ReportProgramTest, DescribesItsEnd) {
  EXPECT_EQ("there is no such folder", WhyNot(Program("echo 'backplane: there is no such folder' >&2; exit 1")));
  EXPECT_EQ("backplane-report ended with exit code 7", WhyNot(Program("exit 7")));
  EXPECT_EQ("backplane-report was ended by: Segmentation fault", WhyNot(Program("echo half an answer; kill -SEGV $$")));
  EXPECT_EQ("backplane-report did not end within 0.1 s", WhyNot(Program("exec sleep 1000", 100ms)));
  EXPECT_THAT(WhyNot({"/nowhere/backplane-report", 60s}), HasSubstr("cannot start /nowhere/backplane-report: No such file"));
}

TEST_F(ReportProgramTest, ItsExitCodeIsTheCommands) { EXPECT_EQ(2, Program("exit 2").Show("--explain", {{"id", "x"}})); }

}  // namespace
}  // namespace backplane
