// The config.yaml of a comparison gives the same comparison, wherever its arms are declared.
#include "batch/batch_files.hpp"

#include "host/plan/sweep/sweep_fixture.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

class BatchFiles : public SweepTest {
 protected:
  // Plans of a file with these lines, and of the config.yaml that its batch writes.
  std::pair<Plan, Plan> ThereAndBack(const std::string& lines) {
    BatchRequest request;
    request.plan = GoodPlan(lines);
    request.out = folder_ / "out";
    std::filesystem::create_directories(request.out);
    WriteBatchFiles(request);
    PlanResult back = MakePlan(ResultsFolder{request.out}.config(), {{}, {}, Lookup(), {}, {}});
    for (const Diagnostic& d : back.errors) ADD_FAILURE() << Format(d);
    return {request.plan, back.plan.value_or(Plan{})};
  }
  void ExpectTheSame(const std::string& lines) {
    const auto [there, back] = ThereAndBack(lines);
    EXPECT_FALSE(there.trials.empty());
    EXPECT_EQ(Ids(back), Ids(there));
    EXPECT_EQ(Names(back), Names(there));
    ASSERT_TRUE(back.compare && there.compare);
    EXPECT_EQ(ToJson(*back.compare), ToJson(*there.compare));
  }
};

TEST_F(BatchFiles, ArmsMayChoosePlugins) { ExpectTheSame("compare: {arms: [{name: a}, {name: b, learner: hopper}]}\n"); }

TEST_F(BatchFiles, ArmsOnTasksMayChoosePlugins) {
  const std::string arms = "compare:\n  arms: [{name: a}, {name: b, learner: hopper}]\n  tasks:\n";
  ExpectTheSame(arms +
                "    - {name: x, reference: [0, 1], budget.iterations: 2}\n"
                "    - {name: y, reference: [0, 1], env: swimmer}\n");
}

TEST_F(BatchFiles, BudgetOfATaskAppearsOnce) {
  ExpectTheSame(
      "compare:\n  arms: [{name: a}, {name: b, learner: hopper}]\n  tasks:\n"
      "    - {name: x, reference: [0, 1], budget: {iterations: 2}}\n"
      "    - {name: y, reference: [0, 1], budget: {iterations: 3}}\n");
}

}  // namespace
}  // namespace backplane
