#include "data/data_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/held_out_pieces.hpp"
#include "data_trial.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

struct Fed {
  explicit Fed(DataTrial& trial, uint64_t device_bytes = 0, bool shrink = true)
      : trial(trial), device_bytes(device_bytes), loader(*trial.env, *trial.learner, {7, device_bytes, shrink}, [this] {
          ++asked;
          return stop;
        }) {}
  // Plans and serves like the loop.
  bool Next() {
    const bp_request request = trial.learner->Plan(LimitsOf(loader.items(), device_bytes));
    return loader.DeliverGroup(request, iteration++, 0, [] {});
  }
  DataTrial& trial;
  const uint64_t device_bytes;
  bool stop = false;
  int asked = 0;
  uint64_t iteration = 1;
  DataLoader loader;
};

std::vector<int> Sorted(const std::vector<Adds::Seen>& seen) {
  std::vector<int> items;
  for (const Adds::Seen& one : seen) items.insert(items.end(), one.items.begin(), one.items.end());
  std::sort(items.begin(), items.end());
  return items;
}

TEST(DataLoader, EpochHasEveryItemOnceAndAShortLastGroup) {
  DataTrial trial;
  Fed fed(trial);
  std::vector<uint64_t> sizes;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(fed.Next());
    sizes.push_back(fed.loader.group_items());
  }
  EXPECT_THAT(sizes, testing::ElementsAre(4, 4, 2));
  std::vector<int> all(10);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(Sorted(trial.adds().seen()), all);
  EXPECT_EQ(fed.loader.epochs(), 1.0);
}

TEST(DataLoader, EveryEpochHasItsOwnOrder) {
  DataTrial trial({}, {{"group", 10}, {"micro_batch", 10}, {"sort", false}});
  Fed fed(trial);
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(fed.Next());
  for (const Adds::Seen& seen : trial.adds().seen()) orders.insert(seen.items);
  EXPECT_EQ(orders.size(), 4u);
}

TEST(DataLoader, OmitsAShortLastGroupOnRequest) {
  DataTrial trial({}, {{"drop_last", true}});
  Fed fed(trial);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(fed.Next());
    EXPECT_EQ(fed.loader.group_items(), 4u);
  }
  EXPECT_EQ(fed.loader.epochs(), 2.4);

  DataTrial small({{"items", 3}}, {{"drop_last", true}});
  Fed none(small);
  try {
    none.Next();
    FAIL() << "3 items make no group of 4";
  } catch (const TrialFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("groups of 4 items"));
    EXPECT_THAT(failure.what(), HasSubstr("the data has only 3 items"));
  }
}

TEST(DataLoader, HalvesAMicroBatchThatDoesNotFitForTheSameUpdate) {
  DataTrial whole({}, {{"group", 10}, {"micro_batch", 2}});
  Fed free(whole);
  ASSERT_TRUE(free.Next());

  DataTrial trial({}, {{"group", 10}, {"micro_batch", 8}});
  Fed fed(trial, 1000 + 10 * 2 * 6);  // two items of 6 numbers
  ASSERT_TRUE(fed.Next());
  EXPECT_EQ(fed.loader.micro_batch(), 2u);
  ASSERT_EQ(fed.loader.shrinks().size(), 2u);
  EXPECT_EQ(fed.loader.shrinks()[0].iteration, 1u);
  EXPECT_EQ(fed.loader.shrinks()[0].micro_batch_before, 8u);
  EXPECT_EQ(fed.loader.shrinks()[0].micro_batch_after, 4u);
  EXPECT_EQ(fed.loader.shrinks()[1].micro_batch_after, 2u);
  EXPECT_EQ(fed.loader.shrinks()[0].live_bytes, 1000u);
  EXPECT_EQ(trial.adds().sum(), whole.adds().sum());
  ASSERT_TRUE(fed.Next());
  EXPECT_EQ(fed.loader.shrinks().size(), 2u) << "it remembers what fits";
}

TEST(DataLoader, IsOutOfMemoryIfOneItemDoesNotFitOrShrinkIsOff) {
  for (const bool shrink : {true, false}) {
    DataTrial trial({}, {{"micro_batch", 4}});
    Fed fed(trial, 1000, shrink);
    try {
      fed.Next();
      FAIL() << "nothing fits";
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), BP_E_OOM_DEVICE);
      EXPECT_EQ(std::string(failure.what()).find("one item at a time") != std::string::npos, shrink) << failure.what();
    }
  }
}

TEST(DataLoader, StopsBetweenMicroBatchesAndResumesTheGroup) {
  DataTrial whole, trial;
  Fed undisturbed(whole), fed(trial);
  ASSERT_TRUE(undisturbed.Next());
  fed.stop = true;
  EXPECT_FALSE(fed.Next());
  EXPECT_EQ(fed.loader.epochs(), 0.0);
  EXPECT_TRUE(trial.adds().seen().empty());
  fed.stop = false;
  ASSERT_TRUE(fed.Next());
  EXPECT_EQ(trial.adds().sum(), whole.adds().sum());
}

TEST(DataLoader, ResumesFromItsSavedPosition) {
  DataTrial whole({}, {{"micro_batch", 4}}), first({}, {{"micro_batch", 4}}), second({}, {{"micro_batch", 4}});
  const uint64_t device = 1000 + 10 * 2 * 6;
  Fed all(whole, device), before(first, device), after(second, device);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(all.Next());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(before.Next());
  after.loader.Load(before.loader.Save());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(after.Next());
  EXPECT_EQ(after.loader.shrinks().size(), before.loader.shrinks().size()) << "the fitting size was saved too";
  EXPECT_NEAR(first.adds().sum() + second.adds().sum(), whole.adds().sum(), 1e-12);
}

TEST(DataLoader, KeepsShrunkMicroBatchesAfterAResume) {
  const nlohmann::json options = {{"group", 10}, {"micro_batch", 4}};
  DataTrial first({}, options), second({}, options);
  const uint64_t device = 1000 + 10 * 2 * 6;  // two items of 6 numbers
  Fed before(first, device), after(second, device);
  ASSERT_TRUE(before.Next());
  ASSERT_EQ(before.loader.shrinks().size(), 1u);
  after.loader.Load(before.loader.Save());
  EXPECT_EQ(ToJson(after.loader.Save()), ToJson(before.loader.Save()));
  EXPECT_EQ(after.loader.shrinks()[0].micro_batch_before, 4u);
  EXPECT_EQ(after.loader.shrinks()[0].live_bytes, 1000u);
}

TEST(DataLoader, RejectsResumingWithLessData) {
  DataTrial whole, less(nlohmann::json{{"items", 5}});
  Fed before(whole), after(less);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(before.Next());
  EXPECT_THROW(after.loader.Load(before.loader.Save()), TrialFailure);
  DataPosition nothing_fits = before.loader.Save();
  nothing_fits.item = 0, nothing_fits.micro_batch_max = 0;
  EXPECT_THROW(after.loader.Load(nothing_fits), TrialFailure);
}

TEST(DataLoader, HeldOutLossIsEqualForAnyMicroBatch) {
  for (const int micro_batch : {1, 3, 10}) {
    DataTrial trial({}, {{"group", 10}, {"micro_batch", micro_batch}});
    Fed fed(trial);
    ASSERT_TRUE(fed.Next());
    double sum = 0, weight = 0;
    for (int i = 0; i < 7; ++i) {
      sum += i * (1 + 5 * i % 6);
      weight += 1 + 5 * i % 6;
    }
    const std::optional<HeldOut> held_out = fed.loader.HeldOutLoss(*trial.env, 7);
    ASSERT_TRUE(held_out);
    EXPECT_EQ(held_out->items, 7u);
    EXPECT_DOUBLE_EQ(held_out->loss, sum / weight);
    EXPECT_EQ(fed.loader.HeldOutLoss(*trial.env, 100)->items, 10u);
  }
}

TEST(DataLoader, HeldOutLossShrinksItsMicroBatches) {
  DataTrial trial({}, {{"group", 10}, {"micro_batch", 8}});
  Fed fed(trial, 1000 + 10 * 2 * 6);
  fed.loader.Prepare(trial.learner->Plan(LimitsOf(fed.loader.items(), fed.device_bytes)));
  const std::optional<HeldOut> held_out = fed.loader.HeldOutLoss(*trial.env, 7);
  DataTrial large({}, {{"group", 10}, {"micro_batch", 8}});
  Fed free(large);
  ASSERT_TRUE(held_out);
  EXPECT_DOUBLE_EQ(held_out->loss, free.loader.HeldOutLoss(*large.env, 7)->loss);
  EXPECT_TRUE(fed.loader.shrinks().empty()) << "no update was cut";

  DataTrial stubborn({}, {{"group", 10}, {"micro_batch", 8}});
  Fed fails(stubborn, 1000 + 10 * 2 * 6, /*shrink=*/false);
  fails.loader.Prepare(stubborn.learner->Plan(LimitsOf(10, fails.device_bytes)));
  EXPECT_THROW(fails.loader.HeldOutLoss(*stubborn.env, 7), TrialFailure);
}

TEST(DataLoader, HeldOutLossInPiecesEqualsTheWhole) {
  for (const uint64_t piece : {1, 3, 10}) {
    DataTrial trial;
    Fed fed(trial);
    HeldOutPieces pieces(*trial.env, *trial.learner, 12, piece);
    for (uint64_t item = 9; item < 12; item += piece)
      pieces.Ask(item / piece * piece);  // the last first, including empty pieces
    for (uint64_t item = 0; item < 10; item += piece) pieces.Ask(item);
    EXPECT_EQ(pieces.Sum().items, 10u);
    EXPECT_DOUBLE_EQ(pieces.Sum().loss, fed.loader.HeldOutLoss(*trial.env, 12)->loss);
  }
}

TEST(DataLoader, RejectsAnEmptyDataSet) {
  DataTrial trial(nlohmann::json{{"items", 0}});
  EXPECT_THROW(Fed{trial}, TrialFailure);
}

}  // namespace
}  // namespace backplane
