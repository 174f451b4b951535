#include "export/csv.hpp"

#include "support/batch_fixture.hpp"

namespace backplane {
namespace {

class CsvTest : public BatchFixture {};

TEST_F(CsvTest, OneRowPerPlannedTrialInPlanOrder) {
  RunAll();
  EXPECT_EQ(
      "trial,point,lr,num_env_runners,seed,state,outcome,why,attempts,sps,sampling_sps,env_steps,iterations,"
      "return,return_sd,return_se,return_n,ep/length,ep/length_sd,ep/length_se,ep/length_n,"
      "ep/never,ep/never_sd,ep/never_se,ep/never_n,eval/length,eval/length_sd,eval/length_se,eval/length_n,"
      "eval/return,eval/return_sd,eval/return_se,eval/return_n\n"
      "t1,\"a \"\"big\"\", one\",1,4,7,FAILED,nan,\"died, it did\",1,,,,,,,,,,,,,,,,,,,,,,,,\n"
      "t0,small,0.5,2,7,COMPLETED,ok,,2,1000.5,2000,512,2,3.5,1,0.5,4,NaN,NaN,NaN,4,,,,0,5,0,0,2,9,,,1\n",
      FormatCsv(folder_, PlanLines(), Record()));
}

TEST_F(CsvTest, ListsPlannedTrialsBeforeTheFirstStart) {
  const std::string text = FormatCsv(folder_, PlanLines(), Record());
  EXPECT_NE(std::string::npos, text.find("\nt0,small,0.5,2,7,PLANNED,,,0,,,,,,,,\n")) << text;
}

}  // namespace
}  // namespace backplane
