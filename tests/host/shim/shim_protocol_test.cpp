#include "shim/shim_protocol.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

std::string Complaint(const std::vector<std::string>& arguments) {
  try {
    OrderFromArguments(arguments);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ShimProtocol, OrderComesBackFromItsArguments) {
  const ShimOrder sent{
      5, 0.25, {3, 7}, 1000001, 6, "/sys/fs/cgroup/mine", "/bin/echo", {"--grace=9", "--", ""}, "/out/a b/status", 4.5};
  const ShimOrder got = OrderFromArguments(ToArguments(sent));
  EXPECT_EQ(sent.report_fd, got.report_fd);
  EXPECT_EQ(sent.grace_s, got.grace_s);
  EXPECT_EQ(sent.cores, got.cores);
  EXPECT_EQ(sent.memory_bytes, got.memory_bytes);
  EXPECT_EQ(sent.lock_fd, got.lock_fd);
  EXPECT_EQ(sent.cgroup, got.cgroup);
  EXPECT_EQ(sent.program, got.program);
  EXPECT_EQ(sent.arguments, got.arguments);
  EXPECT_EQ(sent.status_file, got.status_file);
  EXPECT_EQ(sent.silence_limit_s, got.silence_limit_s);
}

TEST(ShimProtocol, ReportComesBackFromItsLines) {
  const std::string text = ToLine(KeepStart{12, 345}) + ToLine(KeepEnd{0, 9, 1 << 20, 1 << 21, true, "rlimit and watcher"});
  const KeepReport report = ReportFromText(text);
  EXPECT_EQ(12, report.start->pid);
  EXPECT_EQ(345u, report.start->start_time);
  EXPECT_EQ(9, report.end->signal);
  EXPECT_EQ(1u << 20, report.end->peak_rss_bytes);
  EXPECT_EQ(1u << 21, report.end->peak_memory_bytes);
  EXPECT_TRUE(report.end->over_memory);
  EXPECT_EQ("rlimit and watcher", report.end->memory_enforced_by);
}

TEST(ShimProtocol, StuckProcessComesBackFromItsLine) {
  KeepEnd end{0, 9};
  end.over_silence = end.left = true;
  const KeepReport report = ReportFromText(ToLine(KeepStuck{12, false, 'T', "py 3\n(x)"}) + ToLine(end));
  ASSERT_TRUE(report.stuck);
  EXPECT_EQ("its process 12 (py 3 (x)) was stopped (state T)", SentenceOf(*report.stuck));
  EXPECT_TRUE(report.end->over_silence);
  EXPECT_TRUE(report.end->left);
  EXPECT_EQ("", report.end->memory_enforced_by);
}

TEST(ShimProtocol, ErrorNamesTheTrialOrItsProcess) {
  EXPECT_EQ("it was stopped (state T)", SentenceOf({12, true, 'T', "backplane"}));
  EXPECT_EQ("it waited for a disk (state D)", SentenceOf({12, true, 'D', "backplane"}));
}

TEST(ShimProtocol, ReasonOfAFailedStartIsOneLine) {
  const KeepReport report = ReportFromText(ToLine(KeepFailure{"cannot start a\nb: no"}));
  EXPECT_EQ("cannot start a b: no", report.failure->sentence);
  EXPECT_FALSE(report.start);
  EXPECT_FALSE(report.end);
}

TEST(ShimProtocol, IgnoresATornLine) {
  const std::string text = ToLine(KeepStart{12, 345}) + ToLine(KeepEnd{.code = 103});
  const KeepReport report = ReportFromText(text.substr(0, text.size() - 1));
  EXPECT_TRUE(report.start);
  EXPECT_FALSE(report.end);
}

TEST(ShimProtocol, ExplainsItselfOnBadArguments) {
  EXPECT_THAT(Complaint({}), testing::HasSubstr("for the supervisor only"));
  EXPECT_THAT(Complaint({"--report-fd=1", "--"}), testing::HasSubstr("-- PROGRAM"));
  EXPECT_THAT(Complaint({"--report-fd=x", "--", "/bin/true"}), testing::HasSubstr("--report-fd=x: expected an integer"));
  EXPECT_THAT(Complaint({"--cores=0,"}), testing::HasSubstr("--cores=0,: expected an integer"));
  EXPECT_THAT(Complaint({"--grace=1s"}), testing::HasSubstr("--grace=1s: expected a number of seconds"));
  EXPECT_THAT(Complaint({"--memory=-1"}), testing::HasSubstr("--memory=-1: expected a number of bytes"));
  EXPECT_THAT(Complaint({"--help"}), testing::HasSubstr("unknown option '--help'"));
}

}  // namespace
}  // namespace backplane
