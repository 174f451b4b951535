#include "export/tb_export.hpp"

#include <fstream>
#include <sstream>

#include "support/batch_fixture.hpp"
#include "tf_events/tf_events.hpp"

namespace backplane {
namespace {

class TbExport : public BatchFixture {
 protected:
  size_t Export() { return ExportTensorBoard(folder_, PlanLines(), Record(), folder_.out / "tb"); }
  // Contents of one trial's files, ordered by name.
  std::vector<std::string> Files(const std::string& name) {
    std::map<std::string, std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.out / "tb" / name)) {
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      texts[entry.path().filename()] = text.str();
    }
    std::vector<std::string> ordered;
    for (auto& [file, text] : texts) ordered.push_back(std::move(text));
    return ordered;
  }
  void Start(EventLog& log, unsigned attempt, bool resumed) { log.Append(AttemptStart{{}, {}, resumed}, "t0", attempt); }
};

std::string Iteration(int step, double t) {
  return nlohmann::json{
             {"iteration", step}, {"step", step}, {"metrics", {{"m", step}}}, {"time", {{"t", t}, {"iteration_s", 1}}}}
             .dump() +
         "\n";
}

TEST_F(TbExport, WritesEveryNumberOfALineButItsAxes) {
  RunAll();
  EXPECT_EQ(Export(), 1u) << "t1 has measured nothing";
  const std::vector<std::string> files = Files("small");
  ASSERT_EQ(files.size(), 1u);
  const double start = Record().Find("t0")->attempts[1].started;
  // The second line has no time, so it gets the attempt's start.
  std::string expected = TfFileVersion(start) + TfSessionStart(start + 0.5, 256) + TfScalar(start + 0.5, 256, "episodes", 0) +
                         TfScalar(start + 0.5, 256, "train/loss", std::nanf("")) + TfScalar(start + 0.5, 256, "m", 2);
  for (const auto& [name, value] : {std::pair<const char*, float>{"episodes", 3},
                                    {"return", 3.5f},
                                    {"charts/episodic_return", 3.5f},
                                    {"ep/length", 7},
                                    {"eval/return", 8},
                                    {"eval/length", 6},
                                    {"train/loss", 0.25f}})
    expected += TfScalar(start, 512, name, value);
  EXPECT_EQ(files[0], expected);
}

TEST_F(TbExport, AResumedAttemptGetsAFileOfItsOwn) {
  EventLog log(folder_.events());
  Put("t0", 1, "", Iteration(1, 1) + Iteration(2, 2) + Iteration(3, 3));
  Put("t0", 2, "", Iteration(3, 3.5) + Iteration(4, 4.5));
  Start(log, 1, false), Start(log, 2, true);
  EXPECT_EQ(Export(), 1u);
  const std::vector<std::string> files = Files("small");
  ASSERT_EQ(files.size(), 2u);
  const double start = Record().Find("t0")->attempts[1].started;
  EXPECT_EQ(files[1], TfFileVersion(start) + TfSessionStart(start + 1, 3) + TfScalar(start + 1, 3, "m", 3) +
                          TfScalar(start + 1, 3, "iteration_s", 1) + TfScalar(start + 2, 4, "m", 4) +
                          TfScalar(start + 2, 4, "iteration_s", 1))
      << "its time counts from its own start, not with the 2.5 s of the attempt before";
}

TEST_F(TbExport, ARestartedAttemptReplacesThePreviousOnes) {
  EventLog log(folder_.events());
  Put("t0", 1, "", Iteration(1, 1)), Put("t0", 2, "", Iteration(1, 1)), Put("t0", 3, "", Iteration(2, 2));
  Start(log, 1, false), Start(log, 2, false), Start(log, 3, true);
  Export();
  EXPECT_EQ(Files("small").size(), 2u);
  const std::vector<std::string> once = Files("small");
  Export();
  EXPECT_EQ(Files("small"), once) << "exporting again replaces the files";
}

TEST(FolderNames, AreSafeAndDiffer) {
  const auto trial = [](const std::string& name, const std::string& id) {
    PlanLine line;
    line.name = name, line.trial_id = id;
    return line;
  };
  EXPECT_EQ(FolderNames({trial("lr=0.5,n=2", "a"), trial("..", "b"), trial("a/b \"c\"", "c"), trial("a/b", "0123456789"),
                         trial("a b", "9876543210"), trial(std::string(300, 'x'), "d")},
                        false),
            (std::vector<std::string>{"lr=0.5,n=2", "_.", "a_b__c_", "a_b-01234567", "a_b-98765432", std::string(150, 'x')}));
}

}  // namespace
}  // namespace backplane
