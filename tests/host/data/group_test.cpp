#include "data/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_trial.hpp"

BP_PLUGINS(bp::EnvBatch<backplane::Numbers>, backplane::Adds);

namespace backplane {

const bp_module& DataModule() { return *bp_module_v1(); }

DataTrial::DataTrial(nlohmann::json env_options, nlohmann::json learner_options) {
  nlohmann::json env_all = {{"items", 10}, {"capacity", 6}};
  nlohmann::json learner_all = {{"group", 4},        {"micro_batch", 2}, {"sort", true}, {"drop_last", false},
                                {"tells_use", true}, {"fails_at", -1},   {"sleep_us", 0}};
  if (env_options.is_object()) env_all.update(env_options);
  if (learner_options.is_object()) learner_all.update(learner_options);
  sinks.cancelled = &cancelled;
  module = LoadedModule::FromTable(DataModule());
  env = std::make_unique<EnvInstance>(*module, "env.numbers", sinks, InstanceOptions{env_all, {}, ""}, 1);
  learner = std::make_unique<LearnerInstance>(*module, "learner.adds", sinks, InstanceOptions{learner_all, {}, ""}, *env, 7);
}

bp_limits LimitsOf(uint64_t items, uint64_t device_bytes) {
  bp_limits limits{};
  limits.struct_size = sizeof limits;
  limits.micro_batch_max = limits.iterations = limits.epochs = limits.env_steps_left = UINT64_MAX;
  limits.items = items;
  limits.device_bytes = device_bytes;
  return limits;
}

namespace {

using testing::ElementsAre;

// First numbers of the obs of a micro-batch: which items it holds.
std::vector<int> ItemsOf(const bp_delivery& delivery) {
  const auto obs = bp::Delivery(&delivery).Get<float>("obs");
  std::vector<int> items;
  for (int64_t i = 0; i < obs.Size(0); ++i) items.push_back(static_cast<int>(*obs.At(i)));
  return items;
}

TEST(ItemGroup, CutsTheOrderOfTheDataIntoMicroBatchesThatAreAsWideAsTheirLongestItem) {
  DataTrial trial;
  ItemGroup group(*trial.env);
  group.Read(0, 2, 5, false);
  EXPECT_EQ(group.items(), 5u);
  EXPECT_EQ(group.weight(), 5 + 4 + 3 + 2 + 1) << "items 2 .. 6 of lengths 1 + 5 i % 6";
  const auto& cut = group.Cut(2);
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_THAT(ItemsOf(cut[0]), ElementsAre(2, 3));
  EXPECT_THAT(ItemsOf(cut[1]), ElementsAre(4, 5));
  EXPECT_THAT(ItemsOf(cut[2]), ElementsAre(6));
  const int64_t widths[] = {5, 3, 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bp::Delivery(&cut[i]).Get<float>("obs").Size(1), widths[i]);
    EXPECT_EQ(cut[i].index, static_cast<uint32_t>(i));
    EXPECT_EQ(cut[i].count, 3u);
    EXPECT_EQ(cut[i].group_weight, 15);
    EXPECT_EQ(cut[i].flags, i == 2 ? uint32_t{BP_DELIVERY_LAST_IN_GROUP} : 0u);
  }
}

TEST(ItemGroup, SortsTheLongestFirstAndKeepsTheOrderOfEquals) {
  DataTrial trial(nlohmann::json{{"items", 12}});
  ItemGroup group(*trial.env);
  group.Read(0, 0, 12, true);
  const auto& cut = group.Cut(12);
  EXPECT_THAT(ItemsOf(cut[0]), ElementsAre(1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 0, 6));
}

TEST(ItemGroup, AllMicroBatchesOfAGroupAreThereAtOnce) {
  DataTrial trial;
  ItemGroup group(*trial.env);
  group.Read(0, 0, 6, true);
  const auto cut = group.Cut(1);
  std::vector<int> all;
  for (const bp_delivery& delivery : cut) all.push_back(ItemsOf(delivery)[0]);
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4, 5, 0));
}

TEST(ItemGroup, TheLongestThereCanBeRepeatsItemsWhereTheDataHasTooFew) {
  DataTrial trial(nlohmann::json{{"items", 3}});
  ItemGroup group(*trial.env);
  group.ReadLongest(7);
  const auto& cut = group.Cut(7);
  EXPECT_THAT(ItemsOf(cut[0]), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_EQ(bp::Delivery(&cut[0]).Get<float>("obs").Size(1), 6);
}

}  // namespace
}  // namespace backplane
