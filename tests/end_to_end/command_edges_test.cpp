// Values that a command gets, names that it never reports, and curves of scripts that report more than progress.
#include <gmock/gmock.h>

#include <numeric>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kClient =
    "import sys, os\nsys.path.insert(0, '" BACKPLANE_SOURCE_DIR "/host/client')\nimport backplane_client as c\n";

class CommandEdges : public BatchTest {
 protected:
  std::string OutLog(const std::string& experiment) const { return ReadFile(Attempt(experiment) / "stdout.log"); }
};

TEST_F(CommandEdges, OptionsArriveAsTheyAreWritten) {
  Write("texts.yaml", R"(
learner:
  command: [echo, "{a}", "{b}", "{c}", "{d}", "{e}", "{f}", "{g}", "{h}"]
  options: {a: 1e5, b: 1.10, c: 18446744073709551615, d: on, e: True, f: "007", g: 0.3, h: .5}
)");
  ASSERT_EQ(Run("run texts.yaml").exit, 0);
  EXPECT_EQ(OutLog("texts"), "1e5 1.10 18446744073709551615 on True 007 0.3 .5\n");
  const Finished resolved = Run("config show --resolved texts.yaml");
  Write("again.yaml", resolved.out);
  ASSERT_EQ(Run("run again.yaml --out again").exit, 0) << resolved.out;
  std::vector<std::string> ids;
  for (const char* const out : {"texts", "again"}) {
    const auto folder = std::string(out) == "again" ? dir_ / "again" : Out(out);
    ids.push_back(Lines(folder / "plan.jsonl").front()["trial_id"]);
  }
  EXPECT_EQ(ids[0], ids[1]) << "the resolved file is the same experiment";
}

// A version that passed values recorded the id of the canonical text.
TEST_F(CommandEdges, ResultsOfValuesAreRejectedOnceForTexts) {
  const auto write = [&](const char* lr) {
    Write("values.yaml", std::string("learner: {command: [echo, \"{lr}\"], options: {lr: ") + lr + "}}\n");
  };
  write("0.0003");
  ASSERT_EQ(Run("run values.yaml").exit, 0);
  write("3.0e-4");
  const Finished rejected = Run("run values.yaml");
  EXPECT_EQ(rejected.exit, 1);
  EXPECT_THAT(rejected.err, AllOf(HasSubstr("options changed since these results were made"),
                                  HasSubstr("was 0.0003, is 3.0e-4"), HasSubstr("--accept-change")));
  EXPECT_EQ(Run("run values.yaml --accept-change").exit, 0);
  EXPECT_EQ(Run("run values.yaml").exit, 0) << "accepted once";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Out("values") / "trials"), {}), 2);
  write("0.0003");
  EXPECT_EQ(Run("run values.yaml").exit, 0) << "the old row is still there";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Out("values") / "trials"), {}), 2);
}

TEST_F(CommandEdges, WarnsOfNamesThatNoReportContains) {
  Write("names.yaml", R"yaml(
learner: {command: [echo, "loss=1 acc=2"], metrics: {loss: "loss=([0-9])", accuracy: "acc=([0-9])"}}
output: {live: [los, accuracy]}
report: {kind: comparison, columns: [acuracy, env_steps, unlike_any]}
)yaml");
  const Finished run = Run("run names.yaml");
  EXPECT_EQ(run.exit, 0) << run.err;
  // On a slow machine the warnings come while the command runs.
  constexpr std::string_view kSoFar = " so far";
  std::string said = run.err;
  for (size_t at; (at = said.find(kSoFar)) != std::string::npos;) said.erase(at, kSoFar.size());
  EXPECT_THAT(said, AllOf(HasSubstr("names.yaml:3:17: output.live: nothing records 'los'; did you mean 'loss'?"),
                          HasSubstr("report.columns: nothing records 'acuracy'; did you mean 'accuracy'?"),
                          HasSubstr("report.columns: nothing records 'unlike_any' (the trial reported accuracy")));
  EXPECT_THAT(run.err, Not(HasSubstr("'env_steps'")));
}

TEST_F(CommandEdges, WarnsAfterTheFirstReport) {
  Write("slow.py", kClient + "import time\nc.log({'loss': 1.0}, step=1)\ntime.sleep(4)\nc.log({'eval/x': 1.0}, step=2)\n");
  Write("slow.yaml", "learner: {command: [python3, slow.py]}\noutput: {live: [losss, eval/x]}\n");
  const Finished run = Run("run slow.yaml");
  EXPECT_THAT(run.err, AllOf(HasSubstr("nothing records 'losss' so far; did you mean 'loss'?"), Not(HasSubstr("'eval/x'"))));
}

TEST_F(CommandEdges, ACurveStaysOneCurveAfterAKill) {
  Write("t.py", kClient + R"(
attempt, folder = int(sys.argv[1]), sys.argv[2]
file = os.path.join(folder, "at")
at = int(open(file).read()) if os.path.exists(file) else 0
c.log({"lr": 0.001}, step=0)
c.log({"eval/return": 1.0}, step=max(0, at - 20))
for step in range(at + 1, 101):
    c.log({"return": float(step)}, step=step)
    if step % 10 == 0:
        open(file + ".new", "w").write(str(step))
        os.rename(file + ".new", file)
    if step == (45, 72, 0)[attempt - 1]: os.kill(os.getpid(), 9)
)");
  Write("t.yaml",
        "learner: {command: [python3, t.py, \"{attempt}\", \"{checkpoint_dir}\"]}\non_failure: {signal: {retry: 2}}\n");
  const Finished run = Run("run t.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  std::vector<int> steps;
  const std::vector<json> lines = Lines(Attempt("t").parent_path() / "attempt-3/metrics.jsonl");
  for (const json& line : lines)
    if (line.value("return", json()).is_object()) steps.push_back(line["step"]);
  std::vector<int> wanted(100);
  std::iota(wanted.begin(), wanted.end(), 1);
  EXPECT_EQ(steps, wanted) << "the third attempt's file has the whole curve";
  EXPECT_EQ(lines.front()["iteration"], 1);
  EXPECT_EQ(Run("run t.yaml --only-damaged").exit, 0);
}

}  // namespace
}  // namespace backplane::end_to_end
