#include "store/damage.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/files.hpp"
#include "record/attempt_files.hpp"
#include "support/result_folder.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kFirst[] = "{\"iteration\":1}\n{\"iteration\":2}\n", kSecond[] = "{\"iteration\":3}\n{\"iteration\":4}\n";

// A trial of four iterations. Its first attempt was killed in iteration 3, after a checkpoint of two; the second resumed it.
class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    files_.WriteAttempt("t", "metrics.jsonl", std::string(kFirst) + "{\"iteration\":3}\n{\"itera");
    files_.WriteAttempt("t", "metrics.jsonl", kSecond, 2);
    Result({{"state", "COMPLETED"}, {"iterations", 4}, {"metrics_parts", {Part(1), Part(2)}}});
    End(/*with_files=*/true);
  }

  nlohmann::json Part(unsigned attempt) {
    MetricsPart part = ReadMetricsPart(Folder(attempt), attempt == 1 ? sizeof kFirst - 1 : kWholeFile);
    part.attempt = attempt;
    return ToJson(part);
  }
  void Result(const nlohmann::json& result) { files_.WriteAttempt("t", "result.json", result.dump(), 2); }
  void End(bool with_files) {
    std::filesystem::remove(Out().events());
    EventLog log(Out().events());
    const std::optional<std::string> text = ReadFile(File(2, "result.json"));
    AttemptEnd end;
    end.state = TrialState::kCompleted;
    if (with_files) end.files = FilesOf(Folder(2), text, nlohmann::json::parse(*text));
    log.Append(AttemptStart{}, "t", 1);
    log.Append(AttemptEnd{}, "t", 1);
    log.Append(AttemptStart{{}, {}, /*resumed=*/true}, "t", 2);
    log.Append(end, "t", 2);
  }

  ResultsFolder Out() const { return {files_.out()}; }
  std::filesystem::path Folder(unsigned attempt) const { return Out().attempt("t", attempt).folder; }
  std::filesystem::path File(unsigned attempt, const char* name) const { return Folder(attempt) / name; }
  std::string Text(const std::filesystem::path& file) const { return ReadFile(file).value(); }
  void Write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

  // Omits the folder's name.
  std::vector<std::string> Found() {
    std::vector<std::string> sentences;
    for (const Damage& one : DamageIn(Out(), ReadBatchRecord(Out().events()))) {
      EXPECT_EQ("t", one.trial_id);
      const std::string sentence = SentenceOf(one), folder = (Out().trial("t").folder / "").string();
      EXPECT_THAT(sentence, StartsWith(folder));
      sentences.push_back(sentence.substr(folder.size()));
    }
    return sentences;
  }

  ResultFolder files_{"damage"};
};

TEST_F(DamageTest, FindsNoneInUnchangedFiles) { EXPECT_THAT(Found(), IsEmpty()); }

TEST_F(DamageTest, FindsEveryChangedBit) {
  for (const auto& [attempt, name, bytes] : {std::tuple(1u, "metrics.jsonl", sizeof kFirst - 1),
                                             {2u, "metrics.jsonl", sizeof kSecond - 1},
                                             {2u, "result.json", 0ul}}) {
    const std::filesystem::path file = File(attempt, name);
    const std::string good = Text(file);
    for (size_t bit = 0; bit < 8 * (bytes > 0 ? bytes : good.size()); ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      Write(file, bad);
      EXPECT_EQ(1u, Found().size()) << name << " of attempt " << attempt << ", bit " << bit;
    }
    Write(file, good);
  }
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(DamageTest, IgnoresLinesOfAKilledAttemptAfterItsCheckpoint) {
  Write(File(1, "metrics.jsonl"), std::string(kFirst) + "anything");
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(DamageTest, ReportsMissingEmptyShortLongAndAlteredFiles) {
  const std::filesystem::path metrics = File(2, "metrics.jsonl");
  std::filesystem::remove(metrics);
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 2 lines, got no such file"));
  Write(metrics, "");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 2 lines, got an empty file"));
  Write(metrics, "{\"iteration\":3}\n");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 2 lines, got 1"));
  Write(metrics, std::string(kSecond) + "{\"iteration\":5}\n");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 2 lines, got 3"));
  Write(metrics, std::string(kSecond) + "x");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 32 bytes, got 33"));
  Write(metrics, "{\"iteration\":3}\n{\"iteration\":5}\n");
  EXPECT_THAT(Found(), ElementsAre(StartsWith("attempt-2/metrics.jsonl: expected 2 lines of checksum ")));
  Write(metrics, kSecond);
  Write(File(1, "metrics.jsonl"), "{\"iteration\":1}\n");
  EXPECT_THAT(Found(), ElementsAre("attempt-1/metrics.jsonl: expected 2 lines, got 1"));
}

TEST_F(DamageTest, CountsLinesWithoutTheResult) {
  std::filesystem::remove(File(2, "result.json"));
  EXPECT_THAT(Found(), ElementsAre(testing::AllOf(StartsWith("attempt-2/result.json: expected "),
                                                  testing::EndsWith(" bytes, got no such file"))));
  Write(File(2, "metrics.jsonl"), "");
  EXPECT_THAT(Found(), ElementsAre(StartsWith("attempt-2/result.json: "),
                                   "attempt-2/metrics.jsonl: expected 2 lines, got an empty file"));
  std::filesystem::remove_all(Out().trial("t").folder);
  EXPECT_EQ(2u, Found().size());
}

TEST_F(DamageTest, AnOlderFolderIsCheckedByItsIterations) {
  Result({{"state", "COMPLETED"}, {"iterations", 4}});
  End(/*with_files=*/false);
  EXPECT_THAT(Found(), IsEmpty()) << "two of the first attempt, two of the second";
  Write(File(2, "metrics.jsonl"), "{\"iteration\":3}\n{\"iteration\":4}");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 4 iterations, including earlier attempts, got 3"));
  Write(File(2, "result.json"), R"({"state": "COMPL)");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/result.json: expected the trial's result, got one that cannot be read"));
  Write(File(2, "result.json"), "");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/result.json: expected the trial's result, got an empty file"));
}

TEST_F(DamageTest, RejectsHostileFilesOfAnAttempt) {
  Result({{"state", "COMPLETED"}, {"iterations", 4}});
  End(/*with_files=*/false);
  const std::filesystem::path result = File(2, "result.json"), metrics = File(2, "metrics.jsonl");
  const std::string good = Text(result);
  Write(result, R"({"state": "COMPLETED", "a": )" + std::string(100000, '[') + std::string(100000, ']') + "}");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/result.json: expected the trial's result, got one that cannot be read"));
  Write(result, R"({"state": "COMPLETED", "iterations": 1e300})");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/result.json: expected a whole number of iterations, got 1e+300"));
  Write(result, good);
  Write(metrics, std::string(kSecond) + std::string(100000, '[') + "\n");
  EXPECT_THAT(Found(), IsEmpty());
  std::filesystem::remove(metrics);
  ASSERT_EQ(mkfifo(metrics.c_str(), 0600), 0);
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 4 iterations, including earlier attempts, got 3"));
  std::filesystem::remove(result);
  ASSERT_EQ(mkfifo(result.c_str(), 0600), 0);
  EXPECT_THAT(Found(),
              ElementsAre("attempt-2/result.json: expected the trial's result, got something other than a regular file"));
}

// It resumed from a checkpoint of an older version, which did not record earlier files.
TEST_F(DamageTest, ATrialOfTwoVersionsIsCheckedByBoth) {
  Result({{"state", "COMPLETED"}, {"iterations", 4}, {"metrics_parts", {Part(2)}}});
  End(/*with_files=*/true);
  EXPECT_THAT(Found(), IsEmpty());
  Write(File(1, "metrics.jsonl"), "{\"iteration\":1}\n");
  EXPECT_THAT(Found(), ElementsAre("attempt-2/metrics.jsonl: expected 4 iterations, including earlier attempts, got 3"));
}

TEST_F(DamageTest, ChecksOnlyFinishedTrialsOfThePlan) {
  std::filesystem::remove(File(2, "metrics.jsonl"));
  PlanLine line;
  line.trial_id = "t";
  const BatchRecord record = ReadBatchRecord(Out().events());
  EXPECT_EQ(1u, DamageIn(Out(), record, {line}).size());
  line.trial_id = "another";
  EXPECT_THAT(DamageIn(Out(), record, {line}), IsEmpty());
  EventLog(Out().events()).Append(StateChange{TrialState::kPlanned, "damaged"}, "t");
  EXPECT_THAT(Found(), IsEmpty()) << "it runs again anyway";
}

}  // namespace
}  // namespace backplane
