#include "rollout/job_queue.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(JobQueue, GivesEachJobOnceInOrder) {
  JobQueue queue;
  queue.Start(2, 3, 0);
  for (uint64_t job = 0; job < 6; ++job) EXPECT_EQ(queue.Take(), job);
  EXPECT_FALSE(queue.HasJob());
  EXPECT_EQ(queue.Take(), std::nullopt);
}

TEST(JobQueue, IsFinishedWhenAllJobsAre) {
  JobQueue queue;
  queue.Start(2, 1, 0);
  queue.Take(), queue.Take();
  EXPECT_FALSE(queue.Finish(1)) << "no thread waits if all candidates may be in flight";
  EXPECT_FALSE(queue.finished());
  EXPECT_TRUE(queue.Finish(0));
  EXPECT_TRUE(queue.finished());
}

TEST(JobQueue, BeginsNoMoreCandidatesThanMayBeInFlight) {
  JobQueue queue;
  queue.Start(4, 2, 2);
  for (uint64_t job = 0; job < 4; ++job) EXPECT_EQ(queue.Take(), job);
  EXPECT_EQ(queue.Take(), std::nullopt);
  EXPECT_FALSE(queue.Finish(2)) << "candidate 1 has an episode left";
  EXPECT_EQ(queue.Take(), std::nullopt);
  EXPECT_TRUE(queue.Finish(3));
  EXPECT_EQ(queue.Take(), 4u) << "candidate 2 replaces candidate 1, while candidate 0 is in flight";
  EXPECT_EQ(queue.Take(), 5u);
  EXPECT_EQ(queue.Take(), std::nullopt);
}

TEST(JobQueue, RestartsFromTheFirstJob) {
  JobQueue queue;
  queue.Start(3, 1, 1);
  queue.Take();
  queue.Start(5, 1, 0);
  for (uint64_t job = 0; job < 5; ++job) EXPECT_EQ(queue.Take(), job);
}

TEST(JobQueue, ReturnsAddedJobsUntilItIsClosed) {
  JobQueue queue;
  queue.StartEmpty(3, 2);
  EXPECT_EQ(queue.Take(), std::nullopt);
  EXPECT_FALSE(queue.finished()) << "more may come";
  EXPECT_TRUE(queue.Give(5));
  EXPECT_TRUE(queue.Give(1));
  EXPECT_TRUE(queue.HasJob());
  EXPECT_EQ(queue.Take(), 5u);
  EXPECT_EQ(queue.Take(), 1u);
  EXPECT_EQ(queue.Take(), std::nullopt);
  queue.Finish(5);
  queue.Close();
  EXPECT_FALSE(queue.finished()) << "job 1 is played";
  EXPECT_TRUE(queue.Finish(1));
  EXPECT_TRUE(queue.finished());
}

TEST(JobQueue, RejectsUnknownJobs) {
  JobQueue queue;
  queue.StartEmpty(1, 2);
  EXPECT_FALSE(queue.Give(2));
  EXPECT_TRUE(queue.Give(0));
  EXPECT_TRUE(queue.Give(1));
  EXPECT_FALSE(queue.Give(1)) << "there are two";
}

}  // namespace
}  // namespace backplane
