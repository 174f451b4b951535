#include "data/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_trial.hpp"

namespace backplane {

// Numbers with a LENGTH or a WEIGHT that violates ext/source.h.
class OddNumbers : public Numbers {
 public:
  static constexpr bp::About kAbout{"env.odd_numbers", "1.0.0", "A data set that declares its items wrongly."};
  struct Options : Numbers::Options {
    std::string odd = "none";
  };
  static constexpr bp::OptionTable kOptions{
      Numbers::kOptions,
      bp::Opt("odd", &Options::odd, "none|long_length|two_lengths|double_weight|two_weights|weight_of_agents|writes_behind",
              "What is wrong."),
  };

  OddNumbers(const Options& options, uint64_t rows) : Numbers(options, rows), odd_(options.odd) {}

  bp::EnvSpec Spec() const {
    bp::EnvSpec spec = Numbers::Spec();
    bp::Channel &length = spec.channels[1], &weight = spec.channels[2];
    if (odd_ == "long_length") length.dtype.bits = 64;
    if (odd_ == "two_lengths") length.shape = {2};
    if (odd_ == "double_weight") weight.dtype = bp::kF64;
    if (odd_ == "two_weights") weight.shape = {2};
    if (odd_ == "weight_of_agents") weight.scope = BP_SCOPE_AGENT;
    return spec;
  }
  void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot& slot) {
    Numbers::Read(seed, first, n, slot);
    if (odd_ == "writes_behind") slot.Row(weight_, n)[0] = 1;
  }

 private:
  std::string odd_;
};

}  // namespace backplane

BP_PLUGINS(bp::EnvBatch<backplane::Numbers>, bp::EnvBatch<backplane::OddNumbers>, backplane::Adds);

namespace backplane {

const bp_module& DataModule() { return *bp_module_v1(); }

DataTrial::DataTrial(const nlohmann::json& env_options, const nlohmann::json& learner_options) {
  nlohmann::json env_all = {{"items", 10}, {"capacity", 6}};
  nlohmann::json learner_all = {{"group", 4},         {"micro_batch", 2},     {"sort", true},
                                {"drop_last", false}, {"tells_use", true},    {"fails_at", -1},
                                {"sleep_us", 0},      {"evaluation_rows", 0}, {"held_out_any", false}};
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
using testing::HasSubstr;

// The first number of each obs in a micro-batch identifies its items.
std::vector<int> ItemsOf(const bp_delivery& delivery) {
  const auto obs = bp::Delivery(&delivery).Get<float>("obs");
  std::vector<int> items;
  for (int64_t i = 0; i < obs.Size(0); ++i) items.push_back(static_cast<int>(*obs.At(i)));
  return items;
}

TEST(ItemGroup, CutsMicroBatchesAsWideAsTheirLongestItem) {
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

TEST(ItemGroup, ProvidesAllMicroBatchesOfAGroupTogether) {
  DataTrial trial;
  ItemGroup group(*trial.env);
  group.Read(0, 0, 6, true);
  const auto cut = group.Cut(1);
  std::vector<int> all;
  for (const bp_delivery& delivery : cut) all.push_back(ItemsOf(delivery)[0]);
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4, 5, 0));
}

// The group of a data set with this declaration of its items.
void MakeGroup(const char* odd) {
  HostSinks sinks;
  const std::unique_ptr<LoadedModule> module = LoadedModule::FromTable(DataModule());
  const nlohmann::json options = {{"items", 10}, {"capacity", 6}, {"odd", odd}};
  EnvInstance env(*module, "env.odd_numbers", sinks, InstanceOptions{options, {}, ""}, 1);
  ItemGroup group(env);
  group.Read(0, 0, 4, false);
}

TEST(ItemGroup, FindsAnItemWrittenPastTheRequestedOnes) {
  try {
    MakeGroup("writes_behind");
    FAIL();
  } catch (const TrialFailure& failure) {
    EXPECT_STREQ(
        failure.what(),
        "env.odd_numbers: read: expected nothing written outside channel 'weight', got a change 0 bytes after its end");
  }
}

TEST(ItemGroup, RejectsInvalidLengthsAndWeights) {
  const char* const kLength = "'obs_length' of role LENGTH: expected one int32 in row scope, got type code 0 of ";
  const char* const kWeight = "'weight' of role WEIGHT: expected one float32 in row scope, got type code 2 of ";
  const std::string cases[][2] = {
      {"long_length", "'obs_length': expected int32, got type code 0 of 64 bits with 1 elements a row, scope 1"},
      {"two_lengths", std::string(kLength) + "32 bits with 2 elements, scope 1"},
      {"double_weight", std::string(kWeight) + "64 bits with 1 elements, scope 1"},
      {"two_weights", std::string(kWeight) + "32 bits with 2 elements, scope 1"},
      {"weight_of_agents", std::string(kWeight) + "32 bits with 1 elements, scope 2"},
  };
  EXPECT_NO_THROW(MakeGroup("none"));
  for (const auto& [odd, sentence] : cases) {
    try {
      MakeGroup(odd.c_str());
      FAIL() << odd;
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), BP_E_INTERNAL) << odd;
      EXPECT_THAT(failure.what(), HasSubstr(sentence));
    }
  }
}

TEST(ItemGroup, LongestGroupRepeatsItemsOfAShortDataSet) {
  DataTrial trial(nlohmann::json{{"items", 3}});
  ItemGroup group(*trial.env);
  group.ReadLongest(7);
  const auto& cut = group.Cut(7);
  EXPECT_THAT(ItemsOf(cut[0]), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_EQ(bp::Delivery(&cut[0]).Get<float>("obs").Size(1), 6);
}

}  // namespace
}  // namespace backplane
