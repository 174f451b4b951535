// The replay buffer of the SDK and its sampler, on files in memory.
#include "backplane/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "backplane/rng.h"
#include "fake_host.hpp"
#include "replay/sampler.hpp"
#include "replay/sum_tree.hpp"

namespace backplane::replay {
namespace {

using test_support::Buffer;
using test_support::HeapFiles;
using test_support::LoadWith;
using test_support::SaveWith;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A host that has nothing but files.
struct FileHost {
  FileHost() {
    host.impl = &files;
    host.get_extension = [](const bp_host* h, const char* id) -> const void* {
      return std::strcmp(id, BP_HOST_FILE_1) == 0 ? HeapFiles::Api(static_cast<HeapFiles*>(h->impl)) : nullptr;
    };
  }
  HeapFiles files;
  bp_host host{sizeof(bp_host), BP_ABI_MINOR};
};

// A ring of observations of one number, which counts the steps of the row's whole life: row r has 1000 r + its step. The action
// is minus the observation, the reward is the observation that follows.
class Ring {
 public:
  explicit Ring(uint64_t capacity, uint64_t rows = 1, uint64_t horizon = 4)
      : rows_(rows), replay(&host.host, {rows, sizeof(float), sizeof(float), capacity, horizon}) {}

  // Stores a part of `frames` steps. Steps of `ends` (frame, row) end an episode; `terminates`: by termination. The last
  // observation is the step's plus a half.
  void Store(uint64_t frames, const std::set<std::pair<uint64_t, uint64_t>>& ends = {}, bool terminates = false) {
    const auto steps = static_cast<int64_t>(frames), rows = static_cast<int64_t>(rows_);
    Buffer<float> obs({steps + 1, rows}), action({steps, rows}), reward({steps, rows}), final_obs({steps * rows});
    Buffer<uint8_t> terminated({steps, rows}), truncated({steps, rows});
    Buffer<int64_t> index({steps * rows});
    int64_t ended = 0;
    for (int64_t i = 0; i < (steps + 1) * rows; ++i)
      obs.data[i] = static_cast<float>(1000 * (i % rows) + static_cast<int64_t>(replay.count()) + i / rows);
    for (int64_t i = 0; i < steps * rows; ++i) {
      action.data[i] = -obs.data[i], reward.data[i] = obs.data[i] + 1;
      const bool ends_here = ends.contains({replay.count() + static_cast<uint64_t>(i / rows), static_cast<uint64_t>(i % rows)});
      terminated.data[i] = ends_here && terminates, truncated.data[i] = ends_here && !terminates;
      if (ends_here) final_obs.data[ended] = obs.data[i] + .5f, index.data[ended++] = i;
    }
    final_obs.shape[0] = index.shape[0] = ended;
    const char* names[] = {"obs", "action", "reward", "terminated", "truncated", "final_obs", "final_index"};
    bp_tensor* tensors[] = {&obs.tensor,       &action.tensor,    &reward.tensor, &terminated.tensor,
                            &truncated.tensor, &final_obs.tensor, &index.tensor};
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT, 0, 1};
    delivery.n_tensors = std::size(names), delivery.names = names, delivery.tensors = tensors;
    EXPECT_EQ(replay.Store(bp::Delivery(&delivery)), frames);
  }

 private:
  uint64_t rows_;

 public:
  FileHost host;
  bp::Replay replay;
};

float Number(const void* at) { return *static_cast<const float*>(at); }

TEST(Replay, KeepsTheNewestFramesWithTheirSuccessors) {
  Ring ring(10, 2);
  for (int i = 0; i < 4; ++i) ring.Store(3, {{3 * i + 1, 1}});
  EXPECT_EQ(ring.replay.count(), 12u);
  EXPECT_EQ(ring.replay.first(), 7u) << "5 frames of 2 rows";
  for (uint64_t frame = 7; frame < 12; ++frame) {
    for (uint64_t row = 0; row < 2; ++row) {
      const bp::Transition t = ring.replay.At(frame, row);
      const float obs = static_cast<float>(1000 * row + frame);
      const bool ended = row == 1 && frame % 3 == 1;
      EXPECT_EQ(*t.Obs<float>(), obs);
      EXPECT_EQ(*t.Action<float>(), -obs);
      EXPECT_EQ(t.reward, obs + 1);
      EXPECT_EQ(t.truncated, ended);
      EXPECT_EQ(*t.NextObs<float>(), ended ? obs + .5f : obs + 1) << "the last observation, never that of the next episode";
    }
  }
  EXPECT_THAT(ring.host.files.faults, IsEmpty());
}

// Small frames whose file wraps within a block.
TEST(Replay, WrapsWithoutAGapAndWithEnoughSlack) {
  Ring ring(100, 1, 700);
  const bp_file_claim& claim = ring.host.files.claim("replay");
  const uint64_t entry = 5 * sizeof(float);
  EXPECT_EQ(claim.iteration_bytes, 700 * entry);
  EXPECT_GE(claim.slack_bytes, 3 * claim.iteration_bytes + 2 * uint64_t{BP_FILE_BLOCK});
  EXPECT_EQ(claim.max_bytes, claim.slack_bytes + 100 * entry);
  const uint64_t frames = claim.max_bytes / entry;
  for (uint64_t stored = 0; stored < 2 * frames + 500; stored += 700) ring.Store(700);
  EXPECT_THAT(ring.host.files.faults, IsEmpty());
  for (uint64_t frame = ring.replay.first(); frame < ring.replay.count(); ++frame)
    EXPECT_EQ(*ring.replay.At(frame, 0).Obs<float>(), static_cast<float>(frame));
}

// Two intervals of 100 iterations, unless that takes more than 64 MiB and a quarter of the ring, or 1 GiB.
TEST(Replay, HasRoomForCheckpointsEvery100Iterations) {
  constexpr uint64_t kMib = BP_FILE_BLOCK;
  const auto iterations = [](uint64_t ring_bytes, uint64_t iteration_bytes) {
    return static_cast<double>(bp_replay_slack_bytes(ring_bytes, iteration_bytes) - 2 * kMib) /
           static_cast<double>(iteration_bytes);
  };
  EXPECT_EQ(iterations(100, 1000), 200);
  EXPECT_EQ(iterations(168 * kMib, kMib), 64);
  EXPECT_EQ(iterations(400 * kMib, kMib), 100);
  EXPECT_EQ(iterations(100'000 * kMib, 10 * kMib), 102);
  EXPECT_EQ(iterations(100 * kMib, 30 * kMib), 3) << "the least of a file";
}

// No byte that may be read is among the next `slack_bytes` bytes written.
TEST(Replay, KeepsReadableFramesOutOfTheSlack) {
  Ring ring(50, 3, 40);
  const bp_file_claim& claim = ring.host.files.claim("replay");
  for (int i = 0; i < 30; ++i) ring.Store(40);
  const uint64_t frame_bytes = 3 * 5 * sizeof(float), slack = claim.slack_bytes / frame_bytes;
  std::set<uint64_t> next;
  for (uint64_t i = 0; i < slack; ++i) next.insert(ring.replay.Place(ring.replay.count() + i, 0));
  for (uint64_t frame = ring.replay.first(); frame < ring.replay.count(); ++frame)
    EXPECT_FALSE(next.contains(ring.replay.Place(frame, 0)));
}

TEST(Replay, OnlyTheCountIsSaved) {
  Ring ring(10);
  for (int i = 0; i < 5; ++i) ring.Store(4);
  const auto save = [](bp::Replay* r, const bp_writer* w) { r->Save(bp::Writer(w)); };
  const auto load = [](bp::Replay* r, const bp_reader* in) { return r->Load(bp::Reader(in)), bp_status{BP_OK}; };
  const std::string saved = SaveWith(save, &ring.replay);
  EXPECT_EQ(saved.size(), 5 * sizeof(uint64_t));
  bp::Replay again(&ring.host.host, {1, sizeof(float), sizeof(float), 10, 4});
  LoadWith(load, &again, saved);
  EXPECT_EQ(again.count(), 20u);
  EXPECT_EQ(*again.At(19, 0).Obs<float>(), 19.f);
  bp::Replay other(&ring.host.host, {1, sizeof(float), sizeof(float), 11, 4}, {}, "other");
  LoadWith(load, &other, saved);
  EXPECT_EQ(other.count(), 0u) << "a ring of another capacity";
}

TEST(Replay, RejectsAHostWithoutFiles) {
  FileHost host;
  host.files.missing = true;
  EXPECT_THAT(
      [&] {
        bp::Replay(&host.host, {1, 4, 4, 10, 4});
      },
      testing::ThrowsMessage<bp::Error>(HasSubstr("files of the trial (bp.host.file/1)")));
}

TEST(Replay, RejectsADeliveryWithoutALastObservation) {
  Ring ring(10);
  Buffer<float> obs({3, 1}), action({2, 1}), reward({2, 1});
  Buffer<uint8_t> terminated({2, 1}), truncated({2, 1});
  truncated.data[1] = 1;
  const char* names[] = {"obs", "action", "reward", "terminated", "truncated"};
  bp_tensor* tensors[] = {&obs.tensor, &action.tensor, &reward.tensor, &terminated.tensor, &truncated.tensor};
  bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT, 0, 1};
  delivery.n_tensors = std::size(names), delivery.names = names, delivery.tensors = tensors;
  EXPECT_THAT([&] { ring.replay.Store(bp::Delivery(&delivery)); },
              testing::ThrowsMessage<bp::Error>(HasSubstr("lacks the last observation")));
}

Window WindowAt(const Ring& ring, uint64_t n, double gamma, uint64_t frame, uint64_t row = 0) {
  return Sampler(&ring.replay, {.n_step = n, .gamma = gamma}, 1).At({frame, row, 1});
}

// Rewards of frames 2, 3, 4 are 3, 4, 5.
TEST(Sampler, SumsRewardsUpToTheFirstEnd) {
  Ring whole(100), truncated(100), terminated(100);
  whole.Store(9), truncated.Store(9, {{3, 0}}), terminated.Store(9, {{3, 0}}, true);
  const Window all = WindowAt(whole, 3, .5, 2);
  EXPECT_EQ(all.reward, 3 + .5 * 4 + .25 * 5);
  EXPECT_EQ(all.discount, .125);
  EXPECT_EQ(Number(all.obs), 2);
  EXPECT_EQ(Number(all.action), -2);
  EXPECT_EQ(Number(all.next_obs), 5);
  const Window cut = WindowAt(truncated, 3, .5, 2);
  EXPECT_EQ(cut.reward, 3 + .5 * 4);
  EXPECT_EQ(cut.discount, .25) << "the last observation's value counts";
  EXPECT_EQ(Number(cut.next_obs), 3.5);
  const Window over = WindowAt(terminated, 3, .5, 2);
  EXPECT_EQ(over.reward, 3 + .5 * 4);
  EXPECT_EQ(over.discount, 0);
}

std::map<std::pair<uint64_t, uint64_t>, int> Counts(const Sampler& sampler, int draws, int64_t n = 64) {
  std::map<std::pair<uint64_t, uint64_t>, int> counts;
  std::vector<Start> starts;
  for (int i = 0; i < draws; ++i) {
    EXPECT_TRUE(sampler.Draw(static_cast<uint64_t>(i), n, &starts));
    for (const Start& start : starts) ++counts[{start.frame, start.row}];
  }
  return counts;
}

// A capacity of n + 2 frames, as the ring wraps: three starts are admissible.
TEST(Sampler, NoWindowCrossesTheWritePosition) {
  for (const bool prioritized : {false, true}) {
    constexpr uint64_t kSteps = 3;
    Ring ring(kSteps + 2);
    Sampler sampler(&ring.replay, {.n_step = kSteps, .prioritized = prioritized}, 1);
    for (int i = 0; i < 40; ++i) {
      ring.Store(2);
      sampler.OnStored(2);
      if (ring.replay.count() < kSteps + 2) continue;
      for (const auto& [start, count] : Counts(sampler, 4)) {
        EXPECT_GE(start.first, ring.replay.first());
        EXPECT_LE(start.first + kSteps, ring.replay.count());
        EXPECT_EQ(Number(sampler.At({start.first, 0, 1}).next_obs), static_cast<float>(start.first + kSteps));
      }
    }
    EXPECT_EQ(Counts(sampler, 20).size(), 3u);
  }
}

// The step after a window is in the ring, too; an end of an episode has none.
TEST(Sampler, FollowsAWindowWithTheNextAction) {
  for (const bool prioritized : {false, true}) {
    Ring ring(6);
    Sampler sampler(&ring.replay, {.n_step = 2, .follow = true, .prioritized = prioritized}, 1);
    std::vector<Start> starts;
    ring.Store(2), sampler.OnStored(2);
    EXPECT_FALSE(sampler.Draw(0, 4, &starts));
    ring.Store(7, {{6, 0}}), sampler.OnStored(7);
    ASSERT_TRUE(sampler.Draw(0, 100, &starts));
    std::set<uint64_t> drawn;
    for (const Start& start : starts) {
      drawn.insert(start.frame);
      const void* next = sampler.At(start).next_action;
      const bool ended = start.frame == 5 || start.frame == 6;
      ASSERT_EQ(next == nullptr, ended) << start.frame;
      if (ended) continue;
      EXPECT_EQ(Number(next), -static_cast<float>(start.frame + 2));
    }
    EXPECT_THAT(drawn, ElementsAre(3, 4, 5, 6)) << "of the frames 3 to 8";
  }
}

TEST(Sampler, DrawsOnlyFromAdmissibleStarts) {
  for (const bool prioritized : {false, true}) {
    Ring ring(100);
    Sampler sampler(&ring.replay, {.n_step = 5, .prioritized = prioritized}, 1);
    std::vector<Start> starts(3);
    EXPECT_FALSE(sampler.Draw(0, 8, &starts));
    ring.Store(4), sampler.OnStored(4);
    EXPECT_FALSE(sampler.Draw(0, 8, &starts));
    EXPECT_THAT(starts, IsEmpty());
    ring.Store(1), sampler.OnStored(1);
    EXPECT_TRUE(sampler.Draw(0, 8, &starts));
    EXPECT_EQ(starts[7].frame, 0u);
  }
}

TEST(Sampler, DrawsUniformlyAndByItsOwnStream) {
  Ring ring(10, 2);
  ring.Store(4), ring.Store(4);
  const Sampler sampler(&ring.replay, {}, 1), other(&ring.replay, {}, 2);
  const auto counts = Counts(sampler, 500);
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [start, count] : counts) EXPECT_NEAR(count, 3200, 5 * std::sqrt(3200.));
  std::vector<Start> a, b, c;
  sampler.Draw(7, 50, &a), sampler.Draw(7, 50, &b), other.Draw(7, 50, &c);
  const auto frames = [](const std::vector<Start>& starts) {
    std::vector<uint64_t> all;
    for (const Start& start : starts) all.push_back(start.frame * 2 + start.row);
    return all;
  };
  EXPECT_EQ(frames(a), frames(b));
  EXPECT_NE(frames(a), frames(c));
}

// P is proportional to (|error| + epsilon)^alpha, and weights are (N P)^-beta over their largest.
TEST(Sampler, DrawsInProportionToPriorities) {
  Ring ring(100);
  Sampler sampler(&ring.replay, {.prioritized = true, .alpha = .5, .beta = 1, .epsilon = 1}, 1);
  ring.Store(3), sampler.OnStored(3);
  const float errors[] = {0, -3, 15};
  sampler.SetPriorities({{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, errors);  // priorities 1, 2, 4
  const auto counts = Counts(sampler, 700, 10);
  EXPECT_NEAR((counts.at({0, 0})), 1000, 30);
  EXPECT_NEAR((counts.at({1, 0})), 2000, 30);
  EXPECT_NEAR((counts.at({2, 0})), 4000, 30);
  std::vector<Start> starts;
  sampler.Draw(0, 10, &starts);
  for (const Start& start : starts) EXPECT_FLOAT_EQ(start.weight, start.frame == 0 ? 1 : start.frame == 1 ? .5f : .25f);
}

TEST(Sampler, NewEntriesGetTheLargestPrioritySoFar) {
  Ring ring(100);
  Sampler sampler(&ring.replay, {.prioritized = true, .alpha = 1, .epsilon = 1}, 1);
  ring.Store(1), sampler.OnStored(1);
  const float error = 6;
  sampler.SetPriorities({{0, 0, 1}}, &error);
  const float small = 0;
  sampler.SetPriorities({{0, 0, 1}}, &small);
  ring.Store(1), sampler.OnStored(1);
  const auto counts = Counts(sampler, 100, 8);
  EXPECT_NEAR((counts.at({1, 0})), 700, 10) << "7 to 1";
}

// After a resume: the same bytes and the same draws, also when the ring has wrapped.
TEST(Sampler, RebuildsItsTree) {
  constexpr uint64_t kSteps = 2;
  const SamplerOptions options{.n_step = kSteps, .prioritized = true};
  Ring ring(30, 2);
  Sampler sampler(&ring.replay, options, 1);
  bp_rng rng{3, 0};
  std::vector<Start> starts;
  for (uint64_t i = 0; i < 200; ++i) {
    ring.Store(4), sampler.OnStored(4);
    sampler.Draw(i, 16, &starts);
    std::vector<float> errors(16);
    for (float& error : errors) error = static_cast<float>(bp_rng_normal(&rng));
    sampler.SetPriorities(starts, errors.data());
  }
  const auto save = [](Sampler* s, const bp_writer* w) { s->Save(bp::Writer(w)); };
  const auto load = [](Sampler* s, const bp_reader* r) { return s->Load(bp::Reader(r)), bp_status{BP_OK}; };
  const std::string saved = SaveWith(save, &sampler);
  Sampler again(&ring.replay, options, 1);
  LoadWith(load, &again, saved);
  EXPECT_EQ(SaveWith(save, &again), saved);
  std::vector<Start> others;
  for (uint64_t i = 0; i < 50; ++i) {
    sampler.Draw(i, 32, &starts), again.Draw(i, 32, &others);
    for (size_t k = 0; k < starts.size(); ++k) {
      EXPECT_EQ(starts[k].frame, others[k].frame);
      EXPECT_EQ(starts[k].weight, others[k].weight);
    }
  }
}

TEST(SumTree, FindsLeavesByTheirRunningSum) {
  SumTree tree(5);
  for (uint64_t leaf = 0; leaf < 5; ++leaf) tree.Set(leaf, static_cast<float>(leaf == 3 ? 0 : leaf + 1));
  EXPECT_EQ(tree.Total(), 11);  // 1, 2, 3, 0, 5
  const auto find = [&](double mass) { return tree.Find(mass); };
  EXPECT_THAT((std::vector<uint64_t>{find(0), find(.9), find(1), find(2.9), find(3), find(5.9), find(6), find(11)}),
              ElementsAre(0, 0, 1, 1, 2, 2, 4, 4));
  tree.Clear();
  EXPECT_EQ(tree.Total(), 0);
}

}  // namespace
}  // namespace backplane::replay
