#include "store/event_log.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/files.hpp"
#include "base/process.hpp"
#include "support/file_size_limit.hpp"

namespace backplane {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class EventLogTest : public testing::Test {
 protected:
  EventLogTest() { std::filesystem::create_directories(folder_); }
  ~EventLogTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(file_, std::ios::binary) << text; }
  std::string Text() const { return ReadFile(file_).value_or(""); }
  std::string ReadError() const {
    try {
      ReadBatchRecord(file_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const std::string kGood = R"({"v":1,"seq":1,"t":5.5,"boot_id":"b","kind":"attempt.start","trial_id":"x","attempt":1,"pid":7})"
                            "\n";
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("event_log_test_" + std::to_string(getpid()));
  std::filesystem::path file_ = folder_ / "events.jsonl";
};

TEST_F(EventLogTest, KeepsReasonsAndReadsThemFromOlderSentences) {
  EventLog(file_).Append(StateChange{TrialState::kPlanned, "damaged: x", StateReason::kDamaged}, "new");
  const auto older = [&](const char* seq, const char* trial, const std::string& why) {
    std::ofstream(file_, std::ios::app) << R"({"v":1,"seq":)" << seq
                                        << R"(,"t":0,"boot_id":"b","kind":"trial.state","trial_id":")" << trial
                                        << R"(","state":"SKIPPED","why":")" << why << "\"}\n";
  };
  older("2", "stage", "the stage before it, a, is FAILED");
  older("3", "phase", "the phase before it, a, is FAILED");
  older("4", "other", "same as x");
  const BatchRecord record = ReadBatchRecord(file_);
  EXPECT_EQ(StateReason::kDamaged, record.Find("new")->reason);
  EXPECT_EQ(StateReason::kLostStart, record.Find("stage")->reason);
  EXPECT_EQ(StateReason::kLostStart, record.Find("phase")->reason);
  EXPECT_EQ(std::nullopt, record.Find("other")->reason);
}

TEST_F(EventLogTest, ReadsAppendedEvents) {
  {
    EventLog log(file_);
    log.Append(SessionStart{"here", 7, 1, 2});
    log.Append(AttemptStart{{0, 1}, {}, false}, "x", 1);
    AttemptEnd end;
    end.outcome = Outcome::kSignal;
    end.why = "died of SIGSEGV";
    end.wall_s = 1.5;
    log.Append(end, "x", 1);
    log.Append(AttemptStart{{}, {}, /*resumed=*/true}, "x", 2);
    log.Append(StateChange{TrialState::kSkipped, "same as x"}, "y");
    EXPECT_EQ(TrialState::kRunning, log.record().Find("x")->state) << "the record includes what was appended";
  }
  const BatchRecord record = ReadBatchRecord(file_);
  EXPECT_EQ(5u, record.last_seq);
  ASSERT_EQ(1u, record.sessions.size());
  EXPECT_EQ(2u, record.sessions[0].start.trials);
  EXPECT_EQ(BootId(), record.sessions[0].boot_id);
  const TrialRecord& x = *record.Find("x");
  ASSERT_EQ(2u, x.attempts.size());
  EXPECT_EQ(Outcome::kSignal, x.attempts[0].end.outcome);
  EXPECT_EQ((std::vector<int>{0, 1}), x.attempts[0].start.cores);
  EXPECT_EQ(1.5, x.attempts[0].end.wall_s);
  EXPECT_TRUE(x.attempts[0].ended);
  EXPECT_FALSE(x.attempts[1].ended);
  EXPECT_EQ(4u, x.last_seq);
  EXPECT_EQ(TrialState::kSkipped, record.Find("y")->state);
  EXPECT_EQ("same as x", record.Find("y")->why);
  EXPECT_EQ(nullptr, record.Find("z"));
}

TEST_F(EventLogTest, PauseLastsUntilTheNextSession) {
  EventLog log(file_);
  log.Append(SessionStart{});
  log.Append(SweepPaused{"3 failures in 60 s"});
  log.Append(SessionEnd{"paused"});
  EXPECT_EQ("3 failures in 60 s", log.record().paused);
  EXPECT_EQ("paused", log.record().sessions.back().why_ended);
  log.Append(SessionStart{});
  EXPECT_EQ("", log.record().paused);
  EXPECT_FALSE(log.record().sessions.back().ended);
}

TEST_F(EventLogTest, AbsentAndEmptyFilesAreEmptyRecords) {
  EXPECT_EQ(0u, ReadBatchRecord(file_).last_seq);
  Write("");
  EXPECT_EQ(0u, ReadBatchRecord(file_).last_seq);
}

TEST_F(EventLogTest, IgnoresATornLastLineAndCutsItOff) {
  Write(kGood + kGood.substr(0, kGood.size() - 1));
  EXPECT_EQ(1u, ReadBatchRecord(file_).Find("x")->attempts.size());
  EventLog(file_).Append(StateChange{TrialState::kPlanned, ""}, "x");
  EXPECT_THAT(Text(), AllOf(testing::StartsWith(kGood + R"({"v":1,"seq":2,)"), EndsWith("}\n")));
  EXPECT_EQ(TrialState::kPlanned, ReadBatchRecord(file_).Find("x")->state);
}

TEST_F(EventLogTest, FileOfOneTornLineLongerThanABlockBecomesEmpty) {
  Write(std::string(10000, 'x'));
  EventLog log(file_);
  EXPECT_EQ("", Text());
}

TEST_F(EventLogTest, GarbageInTheMiddleIsAnErrorThatNamesTheLine) {
  Write(kGood + "garbage\n" + kGood);
  EXPECT_THAT(ReadError(), HasSubstr(file_.string() + ":2: not an event"));
  EXPECT_THROW(EventLog{file_}, std::runtime_error);
  for (const char* line : {"[1]", "{}", R"({"v":2})", "", R"({"v":1,"seq":"one","t":0,"boot_id":"","kind":"k"})",
                           R"({"v":1,"seq":2,"t":0,"boot_id":"","kind":"trial.state","state":"FAILED"})",
                           R"({"v":1,"seq":2,"t":0,"boot_id":"","kind":"trial.state","trial_id":"x"})"}) {
    Write(kGood + line + "\n");
    EXPECT_THAT(ReadError(), HasSubstr(":2: not an event")) << line;
  }
}

TEST_F(EventLogTest, SkipsKindsOfLaterVersions) {
  Write(kGood + R"({"v":1,"seq":9,"t":6,"boot_id":"b","kind":"weather","trial_id":"y","state":"RAIN"})" + "\n");
  const BatchRecord record = ReadBatchRecord(file_);
  EXPECT_EQ(9u, record.last_seq);
  EXPECT_EQ(nullptr, record.Find("y"));
}

// An unknown outcome of a later version does not make the folder unreadable, because the state decides.
TEST_F(EventLogTest, SkipsOutcomesOfLaterVersions) {
  Write(
      kGood +
      R"({"v":1,"seq":2,"t":6,"boot_id":"b","kind":"attempt.end","trial_id":"x","attempt":1,"outcome":"melted","exit":"none","state":"FAILED"})"
      "\n");
  const TrialRecord x = *ReadBatchRecord(file_).Find("x");
  EXPECT_EQ(TrialState::kFailed, x.state);
  EXPECT_FALSE(x.outcome);
}

TEST_F(EventLogTest, ReaderResumesAtItsLastLine) {
  Write(kGood + R"({"v":1,"seq":2,)");
  EventReader reader(file_);
  reader.Read();
  EXPECT_EQ(1u, reader.record().last_seq);
  std::ofstream(file_, std::ios::app) << R"("t":6,"boot_id":"b","kind":"trial.state","trial_id":"x","state":"FAILED"})"
                                      << "\n";
  reader.Read();
  EXPECT_EQ(2u, reader.record().last_seq);
  EXPECT_EQ(1u, reader.record().Find("x")->attempts.size()) << "the first line was not read twice";
  EXPECT_EQ(TrialState::kFailed, reader.record().Find("x")->state);
}

TEST_F(EventLogTest, FullDiskIsAnErrorAndTheFileStillEndsWithAWholeLine) {
  EventLog log(file_);
  log.Append(StateChange{TrialState::kPlanned, ""}, "x");
  const std::string before = Text();
  {
    const FileSizeLimit limit(before.size() + 20);
    EXPECT_THROW(log.Append(StateChange{TrialState::kFailed, ""}, "x"), std::runtime_error);
  }
  EXPECT_EQ(before, Text());
  EXPECT_EQ(TrialState::kPlanned, log.record().Find("x")->state) << "the record excludes unwritten events";
  log.Append(StateChange{TrialState::kSkipped, ""}, "x");
  EXPECT_EQ(TrialState::kSkipped, ReadBatchRecord(file_).Find("x")->state);
  EXPECT_EQ(2u, ReadBatchRecord(file_).last_seq);
}

TEST_F(EventLogTest, ReusedNumberIsADistinctAttempt) {
  EventLog log(file_);
  AttemptEnd end;
  end.outcome = Outcome::kTemp;
  log.Append(end, "x", 1);
  log.Append(AttemptStart{}, "x", 1);
  const AttemptRecord& attempt = log.record().Find("x")->attempts.at(0);
  EXPECT_FALSE(attempt.ended) << "it runs, and must end if its supervisor dies";
  EXPECT_FALSE(attempt.end.outcome);
}

TEST_F(EventLogTest, WordsThatAreNotUtf8LoseNoEvent) {
  EventLog(file_).Append(StateChange{TrialState::kFailed, "bad \xff byte\nand a line"}, "x");
  EXPECT_THAT(ReadBatchRecord(file_).Find("x")->why, HasSubstr("byte\nand a line"));
}

}  // namespace
}  // namespace backplane
