// `run --apply`: the first change of a finding, as if the user had typed it.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "batch.hpp"
#include "toil.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ApplyFinding : public BatchTest {};

TEST_F(ApplyFinding, RunsTheFileWithTheFirstChangeInAFolderOfItsOwn) {
  Write("toil.yaml", std::string(kToil) + "report: {kind: comparison}\n");
  const Finished early = Run("run toil.yaml --apply update_bound" + kWithFixtures);
  EXPECT_EQ(early.exit, 2);
  EXPECT_THAT(early.err, AllOf(HasSubstr("outputs/toil/report/comparison_results.json is missing"),
                               HasSubstr("report outputs/toil"), HasSubstr("nothing was started")));
  const Finished run = Run("run toil.yaml --set budget.env_steps=20000" + kWithFixtures);
  ASSERT_EQ(run.exit, 0) << run.err;
  const Finished dry = Run("run toil.yaml --apply update_bound --dry-run" + kWithFixtures);
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.err, AllOf(HasSubstr("update_bound: Updates take"), HasSubstr("learner.options.epochs: 2 -> 1, in "),
                             HasSubstr("outputs/toil_try")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/toil_try"));
  const Finished applied = Run("run toil.yaml --apply update_bound" + kWithFixtures);
  ASSERT_EQ(applied.exit, 0) << applied.err;
  EXPECT_THAT(ReadFile(dir_ / "outputs/toil_try/config.yaml"), HasSubstr("epochs: 1\n"));
  EXPECT_THAT(ReadFile(dir_ / "outputs/toil/config.yaml"), HasSubstr("epochs: 2\n")) << "the first results are kept";
  const Finished typo = Run("run toil.yaml --apply update_bond" + kWithFixtures);
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err,
              AllOf(HasSubstr("has no finding 'update_bond'; did you mean 'update_bound'?"), HasSubstr("its findings: ")));
}

TEST_F(ApplyFinding, AddsAPointForASweptPath) {
  Write("toil.yaml", std::string(kToil) +
                         "sweep: {list: [{name: few, learner.options.epochs: 4}]}\n"
                         "report: {kind: comparison}\n");
  const Finished run = Run("run toil.yaml" + kWithFixtures);
  ASSERT_EQ(run.exit, 0) << run.err;
  const Finished dry = Run("run toil.yaml --apply update_bound --dry-run" + kWithFixtures);
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("COMPLETED, stays"), HasSubstr("would run")));
  EXPECT_THAT(dry.err, HasSubstr("in outputs/toil\n"));
}

}  // namespace
}  // namespace backplane::end_to_end
