// Reads files of release 0.1.0 (tests/host/libs/record/files) as records and writes them again: every byte is the same.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "places.hpp"
#include "record/event.hpp"
#include "record/iteration.hpp"
#include "record/plan_line.hpp"
#include "record/progress.hpp"
#include "record/run_info.hpp"
#include "record/trial_file.hpp"
#include "record/trial_result.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string FileText(const char* name) {
  std::ostringstream text;
  text << std::ifstream(std::string(BACKPLANE_SOURCE_DIR "/tests/host/libs/record/files/") + name).rdbuf();
  return text.str();
}

std::vector<std::string> LinesOf(const char* name) {
  std::istringstream stream(FileText(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

template <class T, class Json>
std::string Again(const std::string& text) {
  return ToJson<Json>(RecordFromJson<T>(Json::parse(text))).dump();
}

TEST(RecordFiles, EventsComeBackByteForByte) {
  for (const std::string& line : LinesOf("events.jsonl")) EXPECT_EQ(line, (Again<Event, ordered_json>(line)));
}

TEST(RecordFiles, EventsHaveTheBodyOfTheirKind) {
  std::vector<Event> events;
  for (const std::string& line : LinesOf("events.jsonl")) events.push_back(RecordFromJson<Event>(json::parse(line)));
  ASSERT_EQ(6u, events.size());
  EXPECT_EQ(4u, std::get<SessionStart>(events[0].body).trials);
  EXPECT_EQ((std::vector<int>{0, 1}), std::get<AttemptStart>(events[1].body).cores);
  const AttemptEnd& good = std::get<AttemptEnd>(events[2].body);
  EXPECT_EQ(TrialState::kCompleted, good.state);
  EXPECT_EQ(4u, good.files.value().metrics_lines);
  EXPECT_EQ("done", std::get<SessionEnd>(events[3].body).why);
  const AttemptEnd& crash = std::get<AttemptEnd>(events[5].body);
  EXPECT_EQ(Outcome::kSignal, crash.outcome);
  EXPECT_EQ("SIGSEGV", crash.signal);
}

std::string ErrorOfEvent(const std::string& body) {
  try {
    RecordFromJson<Event>(json::parse(R"({"v":1,"seq":1,"t":0,"boot_id":"b",)" + body + "}"));
  } catch (const RecordError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordFiles, AnEventThatDoesNotFitNamesTheField) {
  EXPECT_EQ("", ErrorOfEvent(R"("kind":"weather","state":"RAIN")")) << "of a later version";
  EXPECT_EQ("", ErrorOfEvent(R"("kind":"attempt.end","trial_id":"x","state":"FAILED","wall_s":null)"));
  EXPECT_EQ(R"("trial_id" is missing)", ErrorOfEvent(R"("kind":"attempt.start")"));
  EXPECT_EQ(R"("state" is missing)", ErrorOfEvent(R"("kind":"trial.state","trial_id":"x")"));
  EXPECT_THAT(ErrorOfEvent(R"("kind":"trial.state","trial_id":"x","state":"RAIN")"),
              HasSubstr(R"("state": expected one of PLANNED, RUNNING, COMPLETED,)"));
  EXPECT_EQ(R"("attempt": expected a whole number from 0 on, got -1)",
            ErrorOfEvent(R"("kind":"attempt.start","trial_id":"x","attempt":-1)"));
}

TEST(RecordFiles, LinesOfThePlanComeBackByteForByte) {
  for (const std::string& line : LinesOf("plan.jsonl")) EXPECT_EQ(line, (Again<PlanLine, ordered_json>(line)));
  const std::string later =
      R"({"trial_id":"t","point_id":"p","name":"z","seed":1,"values":{"z":1,"a":[2]},"files":{},"phase":"stand","after":"s"})";
  EXPECT_EQ(later, (Again<PlanLine, ordered_json>(later))) << "values stay in the order of the file";
}

TEST(RecordFiles, LinesOfMetricsComeBackByteForByte) {
  for (const std::string& line : LinesOf("metrics.jsonl")) EXPECT_EQ(line, (Again<Iteration, json>(line)));
  const std::string odd =
      R"({"ep":{},"episodes":0,"iteration":1,"metrics":{"train/loss":null},"return":{"mean":null,"n":0,"sd":null,"se":null},)"
      R"("step":8,"time":{"iteration_s":0.5,"sampling_sps":null,"sps":16.0,"t":0.75}})";
  EXPECT_EQ(odd, (Again<Iteration, json>(odd)));
  const Iteration line = RecordFromJson<Iteration>(json::parse(odd));
  EXPECT_TRUE(std::isnan(line.metrics.at("train/loss"))) << "recorded, and not finite";
  EXPECT_TRUE(std::isnan(line.time.sampling_sps.value())) << "no collecting and no time";
  EXPECT_FALSE(line.episode_return.value().mean) << "without samples";
}

TEST(RecordFiles, WholeFilesComeBackByteForByte) {
  EXPECT_EQ(FileText("run.json"), ToJson(RecordFromJson<RunInfo>(json::parse(FileText("run.json")))).dump(1));
  EXPECT_EQ(FileText("trial.json"), ToJson(RecordFromJson<TrialFile>(json::parse(FileText("trial.json")))).dump(1));
}

TEST(RecordFiles, ProgressComesBackByteForByte) {
  ordered_json whole = ordered_json::parse(FileText("progress.json"));
  for (const ordered_json& trial : whole.at("trials"))
    EXPECT_EQ(trial.dump(), ToJson<ordered_json>(RecordFromJson<TrialProgress>(trial)).dump());
  whole.erase("trials");
  EXPECT_EQ(whole.dump(), ToJson<ordered_json>(RecordFromJson<ProgressHead>(whole)).dump());
}

// The loop and the trial write these parts; fields that only the supervisor adds are not among them.
TEST(RecordFiles, AResultComesBackByteForByteFromItsParts) {
  const json before = json::parse(FileText("result.json"));
  const TrialResult result = ReadTolerantly<TrialResult>(before);
  json again = ToJson(static_cast<const LoopResult&>(result));
  Overwrite(static_cast<const TrialEnd&>(result), &again);
  EXPECT_EQ(before.dump(2), again.dump(2));
}

TEST(RecordFiles, AFailureIsReadAsTheSupervisorCompletedIt) {
  const TrialResult result = ReadTolerantly<TrialResult>(json::parse(FileText("failed.json")));
  EXPECT_EQ(TrialState::kFailed, result.state);
  EXPECT_EQ(Outcome::kSignal, result.outcome);
  EXPECT_EQ("died of SIGSEGV", result.error);
  EXPECT_EQ("env.cartpole", result.plugin);
  EXPECT_EQ(51360u, result.iterations);
  EXPECT_EQ(12959744u, result.peak_rss_bytes);
  EXPECT_THAT(result.log_tail, testing::ElementsAre("a signal ended the process"));
  EXPECT_FALSE(result.evaluation);
}

TEST(RecordFiles, RejectsATrialOfADifferentSchema) {
  json trial = json::parse(FileText("trial.json"));
  trial["schema"] = 2;
  EXPECT_THAT([&] { RecordFromJson<TrialFile>(trial); }, ThrowsMessage<RecordError>("schema 2, this program reads 1"));
}

TEST(Spread, IsReadFromANumberAndFromNulls) {
  const auto read = [](const char* text) {
    return ReadTolerantly<EpisodeMeans>(json::parse(std::string(R"({"return":)") + text + "}")).episode_return;
  };
  EXPECT_EQ(3.5, read("3.5").value().mean);
  EXPECT_FALSE(read("3.5")->n);
  EXPECT_TRUE(std::isnan(read(R"({"mean":null,"sd":null,"se":null,"n":4})").value().mean.value()));
  EXPECT_TRUE(std::isnan(read(R"({"mean":1,"sd":null,"se":null,"n":2})")->sd.value()));
  EXPECT_FALSE(read(R"({"mean":1,"sd":null,"se":null,"n":1})")->sd) << "one sample has no spread";
  EXPECT_FALSE(read("[]"));
}

}  // namespace
}  // namespace backplane
