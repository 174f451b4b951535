// Sentences of a running batch's page.
#include "live/live_document.hpp"

#include <gmock/gmock.h>

#include "support/result_folder.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two points; only the first has a return so far.
class LiveDocumentTest : public testing::Test {
 protected:
  LiveDocumentTest() {
    for (const char* id : {"t1", "t2"}) results_.Plan(id, id, nlohmann::json::object());
    results_.Start("t1");
    Progress("RUNNING", 0);
  }

  void Progress(const std::string& state, int done) {
    const nlohmann::json trial = {
        {"id", "t1"}, {"name", "lr=0.1 num_epochs=3"}, {"state", state}, {"return", 12.5}, {"attempt", 1}};
    results_.Write(
        "progress.json",
        nlohmann::json{
            {"experiment", "walk"}, {"counts", {{state, 1}, {"PLANNED", 1}}}, {"done", done}, {"total", 2}, {"trials", {trial}}}
            .dump());
  }
  Document Page(const std::string& config = "learner: {plugin: learns}\n") {
    results_.Write("config.yaml", "experiment: walk\nenv: {plugin: walker}\n" + config);
    LiveBatch batch(results_.out());
    batch.Read(1 << 20);
    return LiveDocument("backplane").Of(&batch);
  }

  ResultFolder results_{"live_document"};
};

TEST_F(LiveDocumentTest, NamesTheHighestReturnOnlyIfTheFileAsksForIt) {
  EXPECT_THAT(Page().verdict,
              ElementsAre("0 of 2 trials done, 1 running.", "Highest return of a trial so far: lr=0.1 num_epochs=3, 12.5."));
  EXPECT_EQ(1u, Page("learner: {plugin: learns}\nreport: {kind: comparison, timing: true}\n").verdict.size());
  EXPECT_EQ(1u, Page("learner: {plugin: learns}\nreport: {kind: comparison, select: {metric: loss}}\n").verdict.size());
  EXPECT_EQ(1u, Page("learner: {plugin: random}\n").verdict.size()) << "random actions have no best";
}

TEST_F(LiveDocumentTest, AnswersByTheMeasureOfTheFinalReport) {
  results_.WriteAttempt("t1", "result.json", R"({"state":"COMPLETED","sps":1000})");
  results_.End("t1", "COMPLETED", "ok");
  Progress("COMPLETED", 1);
  const Document page = Page("learner: {plugin: learns}\nreport: {kind: comparison, timing: true}\n");
  EXPECT_THAT(page.verdict.at(1), HasSubstr("So far: t1: SPS 1,000"));
}

TEST_F(LiveDocumentTest, ReadsATrialThatHasEndedAlthoughOthersWriteMuch) {
  std::string lines;
  for (int i = 1; i < 200; ++i)
    lines += "{\"iteration\":" + std::to_string(i) + ",\"step\":10,\"return\":{\"mean\":3,\"n\":1}}\n";
  results_.WriteAttempt("t1", "metrics.jsonl", lines);
  results_.Start("t2");
  results_.WriteAttempt("t2", "result.json", R"({"state":"COMPLETED","sps":1000})");
  results_.End("t2", "COMPLETED", "ok");
  const nlohmann::json running = {{"id", "t1"}, {"state", "RUNNING"}, {"attempt", 1}},
                       ended = {{"id", "t2"}, {"state", "COMPLETED"}, {"attempt", 1}};
  results_.Write("progress.json", nlohmann::json{{"trials", {running, ended}}}.dump());
  LiveBatch batch(results_.out());
  batch.Read(1000);
  EXPECT_EQ(1u, batch.ended().size());
}

TEST_F(LiveDocumentTest, CountsTrialsInAClustersQueueApart) {
  const nlohmann::json trial = {{"id", "t1"}, {"name", "lr=0.1"}, {"state", "QUEUED"}, {"attempt", 1}};
  nlohmann::json progress = {{"counts", {{"QUEUED", 2}, {"LOST", 1}, {"RUNNING", 2}}}, {"total", 5}, {"trials", {trial}}};
  progress["waits_for"] = "Slurm: Resources";
  results_.Write("progress.json", progress.dump());
  EXPECT_EQ(Page().verdict.at(0), "0 of 5 trials done, 2 running, 1 lost, 2 queued (Slurm: Resources).");
  progress["counts"] = {{"PLANNED", 5}};
  results_.Write("progress.json", progress.dump());
  EXPECT_EQ(Page().verdict.at(0), "0 of 5 trials done, 0 running, waiting (Slurm: Resources).");
}

TEST_F(LiveDocumentTest, HasNoTimeBelowZero) {
  const Document page = Page();  // `updated` is 0, before the start of the attempt
  const Table& trials = std::get<Table>(page.sections.front().blocks.back());
  EXPECT_EQ(0, std::get<Number>(trials.rows.at(0).at(6)).value);
}

}  // namespace
}  // namespace backplane
