#include "workers/job_dealer.hpp"

#include <gmock/gmock.h>

#include <set>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Dealing : public testing::Test {
 protected:
  void Start(uint64_t candidates, uint64_t in_flight, std::vector<uint64_t> windows) {
    queue_.Start(candidates, 1, in_flight);
    dealer_.Start(&queue_, candidates, windows.size());
    for (size_t i = 0; i < windows.size(); ++i) dealer_.Join(i, windows[i]);
  }

  JobQueue queue_;
  JobDealer dealer_;
};

TEST_F(Dealing, GivesEachItsParallelJobsAndMoreAsTheyEnd) {
  Start(12, 0, {2, 2});
  EXPECT_THAT(dealer_.Deal(0), ElementsAre(0, 1, 2, 3)) << "twice as many while much is left";
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(4, 5));
  EXPECT_THAT(dealer_.Deal(1), IsEmpty());
  EXPECT_TRUE(dealer_.Finish(1, 5));
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(6));
}

TEST_F(Dealing, CountsAScoreOnceAndOnlyFromItsWorker) {
  Start(2, 0, {1, 1});
  EXPECT_THAT(dealer_.Deal(0), ElementsAre(0));
  EXPECT_FALSE(dealer_.Finish(1, 0)) << "it belongs to the other worker";
  EXPECT_FALSE(dealer_.Finish(0, 1)) << "no worker has it";
  EXPECT_FALSE(dealer_.Finish(0, 77));
  EXPECT_TRUE(dealer_.Finish(0, 0));
  EXPECT_FALSE(dealer_.Finish(0, 0));
}

TEST_F(Dealing, MovesJobsOfALostWorkerToTheOthers) {
  Start(4, 0, {2, 2});
  EXPECT_THAT(dealer_.Deal(0), ElementsAre(0, 1));
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(2, 3));
  EXPECT_TRUE(dealer_.Finish(0, 1));
  EXPECT_EQ(dealer_.Lose(0), 1u);
  EXPECT_TRUE(dealer_.Finish(1, 2));
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(0));
  EXPECT_TRUE(dealer_.Finish(1, 3) && dealer_.Finish(1, 0));
  EXPECT_TRUE(dealer_.finished());
  EXPECT_TRUE(queue_.finished());
}

TEST_F(Dealing, ReturnsTheRestToTheQueueIfNoWorkerIsLeft) {
  Start(4, 0, {2, 2});
  dealer_.Deal(0), dealer_.Deal(1);
  EXPECT_TRUE(dealer_.Finish(0, 0) && dealer_.Finish(1, 3));
  dealer_.Lose(0), dealer_.Lose(1);
  EXPECT_FALSE(dealer_.finished());
  dealer_.GiveBack(4, 1);
  EXPECT_EQ(queue_.Take(), 1u);
  EXPECT_EQ(queue_.Take(), 2u);
  EXPECT_EQ(queue_.Take(), std::nullopt);
}

TEST_F(Dealing, LimitsCandidatesInFlight) {
  Start(6, 3, {2, 2});
  EXPECT_THAT(dealer_.Deal(0), ElementsAre(0, 1));
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(2));
  EXPECT_TRUE(dealer_.Finish(0, 1));
  EXPECT_THAT(dealer_.Deal(1), ElementsAre(3)) << "the first caller gets the free slot";
  EXPECT_THAT(dealer_.Deal(0), IsEmpty());
}

}  // namespace
}  // namespace backplane
