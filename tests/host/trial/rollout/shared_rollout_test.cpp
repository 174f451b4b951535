// A rollout that several processes share has the bytes of a rollout in one. Each trial here stands for a process.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr uint64_t kRows = 10, kChunkRows = 4, kChunks = 3;

std::string Bytes(const bp_delivery& d) {
  std::string out;
  for (uint64_t i = 0; i < d.n_tensors; ++i) {
    const bp_tensor* t = d.tensors[i];
    uint64_t inner = t->dtype.bits / 8;
    for (int k = 1; k < t->ndim; ++k) inner *= static_cast<uint64_t>(t->shape[k]);
    for (int64_t e = 0; e < t->shape[0]; ++e)
      out.append(static_cast<const char*>(t->data) + e * t->strides[0] * (t->dtype.bits / 8), inner);
  }
  return out;
}

class SharedRollout : public testing::Test {
 protected:
  ~SharedRollout() override { g_switches.row_exact = g_switches.carries = false; }
  static std::unique_ptr<ToyTrial> Process(SharedMemory* shared = nullptr) {
    return std::make_unique<ToyTrial>(kRows, 2, kChunkRows, 7, shared);
  }
  // `player` plays a chunk for the owner. `knows` it: it played the chunk last.
  ChunkPlayed Play(ToyTrial& player, uint64_t chunk, const RolloutPart& part, bool knows) {
    player.collector->SetPolicySteps(owner_->collector->policy_steps());
    player.collector->BeginGiven(part, memory_ ? memory_->block() : SharedMemory::Block(), player.clocks[0]);
    if (!knows) {
      EXPECT_TRUE(player.collector->SetStart(owner_->collector->StartOf(chunk)));
    }
    EXPECT_TRUE(player.collector->PlayGiven({chunk}, player.clocks));
    return player.collector->PlayedOf(chunk);
  }
  void ExpectSameAsAlone(const RolloutPart& part) {
    const PhaseSpan span(alone_->clocks[0], Phase::kSync);
    ASSERT_TRUE(alone_->collector->Collect(part, alone_->clocks));
    EXPECT_EQ(Bytes(owner_->collector->Delivery()), Bytes(alone_->collector->Delivery())) << part.steps << " steps";
    ASSERT_EQ(owner_->collector->episodes().size(), alone_->collector->episodes().size());
    for (size_t i = 0; i < alone_->collector->episodes().size(); ++i) {
      const Episode &ours = owner_->collector->episodes()[i], &theirs = alone_->collector->episodes()[i];
      EXPECT_EQ(ours.episode_return, theirs.episode_return);
      EXPECT_EQ(*ours.info, *theirs.info);
    }
    EXPECT_EQ(owner_->collector->SaveEnvRows(), alone_->collector->SaveEnvRows()) << "of checkpoints";
    EXPECT_EQ(owner_->collector->SaveStateEntries(), alone_->collector->SaveStateEntries());
  }

  const bool set_ = g_switches.row_exact = g_switches.carries = true;  // before the trials below
  std::unique_ptr<SharedMemory> memory_;                               // of the owner; NULL: none
  std::unique_ptr<ToyTrial> alone_ = Process(), owner_ = Process();
};

class InSharedMemory : public SharedRollout {
 protected:
  InSharedMemory() {
    memory_ = std::make_unique<SharedMemory>();
    owner_ = Process(memory_.get());
  }
  // Another process that shares the owner's memory.
  std::unique_ptr<ToyTrial> Player() {
    memories_.push_back(std::make_unique<SharedMemory>(fcntl(memory_->fd(), F_DUPFD_CLOEXEC, 0)));
    return Process(memories_.back().get());
  }

  std::vector<std::unique_ptr<SharedMemory>> memories_;
};

// The fourth rollout is long enough to be copied step by step.
TEST_F(SharedRollout, HasTheBytesOfOneProcess) {
  std::unique_ptr<ToyTrial> first = Process(), second = Process();
  bool known = false;
  for (const uint64_t horizon : {50, 50, 20, 5000, 50}) {
    owner_->collector->BeginShared(horizon, owner_->clocks[0]);
    for (const uint64_t chunk : {2, 0, 1})
      ASSERT_TRUE(owner_->collector->SetPlayed(Play(chunk == 1 ? *second : *first, chunk, horizon, known && chunk == 1)));
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(horizon);
    known = true;
  }
}

TEST_F(SharedRollout, HasThePartsOfOneProcess) {
  std::unique_ptr<ToyTrial> player = Process();
  for (uint64_t k = 0; k < 9; ++k) {
    const RolloutPart part(8, 3, k % 3);
    owner_->collector->BeginShared(part, owner_->clocks[0]);
    const bool lost = k == 4;
    if (lost) player = Process();
    ASSERT_TRUE(owner_->collector->SetPlayed(Play(*player, 2, part, k > 0 && !lost)));
    ASSERT_TRUE(owner_->collector->PlayShared({0, 1}, owner_->clocks));
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(part);
  }
}

// The player still has the states of the episodes before.
TEST_F(SharedRollout, StartsNewEpisodesAfterTheEnvServedAnotherUse) {
  const std::unique_ptr<ToyTrial> player = Process();
  for (int rollout = 0; rollout < 4; ++rollout) {
    if (rollout == 2) owner_->collector->ReleaseEnv(), alone_->collector->ReleaseEnv();
    owner_->collector->BeginShared(15, owner_->clocks[0]);
    for (uint64_t chunk = 0; chunk < kChunks; ++chunk)
      ASSERT_TRUE(owner_->collector->SetPlayed(Play(*player, chunk, 15, false)));
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(15);
  }
}

TEST_F(SharedRollout, SurvivesTheLossOfAProcess) {
  std::unique_ptr<ToyTrial> player = Process();
  for (int rollout = 0; rollout < 6; ++rollout) {
    if (rollout % 2 == 1) player = Process();  // the former one was lost
    owner_->collector->BeginShared(30, owner_->clocks[0]);
    std::vector<uint64_t> left;
    for (uint64_t chunk = 0; chunk < kChunks; ++chunk) {
      if ((chunk + static_cast<uint64_t>(rollout)) % 3 == 0)
        left.push_back(chunk);
      else
        ASSERT_TRUE(owner_->collector->SetPlayed(Play(*player, chunk, 30, false)));
    }
    ASSERT_TRUE(owner_->collector->PlayShared(left, owner_->clocks));
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(30);
  }
}

// The fourth rollout is long enough to be copied step by step. A process sends the channels of its first rollout only.
TEST_F(InSharedMemory, HasTheBytesOfOneProcess) {
  std::unique_ptr<ToyTrial> first = Player(), second = Player();
  SharedMemory::Block before;
  bool known = false;
  for (const uint64_t horizon : {50, 50, 20, 5000, 50, 50}) {
    owner_->collector->BeginShared(horizon, owner_->clocks[0]);
    const bool same_place = memory_->block() == before;
    before = memory_->block();
    for (const uint64_t chunk : {2, 0, 1}) {
      const ChunkPlayed played = Play(chunk == 1 ? *second : *first, chunk, horizon, known && same_place && chunk == 1);
      EXPECT_EQ(played.channels.empty(), known || chunk == 0) << "horizon " << horizon << ", chunk " << chunk;
      ASSERT_TRUE(owner_->collector->SetPlayed(played));
    }
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(horizon);
    known = true;
  }
}

// A lost process has written other numbers into rows of the owner.
TEST_F(InSharedMemory, UsesNoRowsOfALostProcess) {
  std::unique_ptr<ToyTrial> player = Player();
  for (int rollout = 0; rollout < 6; ++rollout) {
    owner_->collector->BeginShared(30, owner_->clocks[0]);
    if (rollout % 3 == 2) {
      for (const uint64_t chunk : {0, 2}) {
        player->collector->SetPolicySteps(1000);
        player->collector->BeginGiven(30, memory_->block(), player->clocks[0]);
        ASSERT_TRUE(player->collector->PlayGiven({chunk}, player->clocks));
        ASSERT_TRUE(player->collector->PlayedOf(chunk).channels.empty());
      }
      player = Player();
    }
    ASSERT_TRUE(owner_->collector->SetPlayed(Play(*player, 0, 30, false)));
    ASSERT_TRUE(owner_->collector->SetPlayed(Play(*player, 1, 30, false)));
    ASSERT_TRUE(owner_->collector->PlayShared({2}, owner_->clocks));
    owner_->collector->EndShared(owner_->clocks[0]);
    ExpectSameAsAlone(30);
  }
}

TEST_F(SharedRollout, RejectsResultsThatDoNotFit) {
  const std::unique_ptr<ToyTrial> player = Process();
  owner_->collector->BeginShared(50, owner_->clocks[0]);
  const ChunkPlayed good = Play(*player, 1, 50, false);
  ASSERT_GT(good.episodes.size(), 1u);
  const auto rejects = [&](const char* what, auto&& spoil) {
    ChunkPlayed bad = good;
    spoil(&bad);
    EXPECT_FALSE(owner_->collector->SetPlayed(bad)) << what;
  };
  rejects("chunk", [](ChunkPlayed* p) { p->chunk = kChunks; });
  rejects("channels", [](ChunkPlayed* p) { p->channels.pop_back(); });
  rejects("channels without shared memory", [](ChunkPlayed* p) { p->channels.clear(); });
  rejects("infos", [](ChunkPlayed* p) { p->infos.push_back(0); });
  rejects("finals", [](ChunkPlayed* p) { p->finals.pop_back(); });
  rejects("moments", [](ChunkPlayed* p) { p->moments.pop_back(); });
  rejects("rows", [](ChunkPlayed* p) { p->rows.pop_back(); });
  rejects("a step behind the end", [](ChunkPlayed* p) { p->episodes[0].t = 50; });
  rejects("a row of another chunk", [](ChunkPlayed* p) { p->episodes[0].row = 3; });
  rejects("an episode too few", [](ChunkPlayed* p) { p->episodes.pop_back(); });
  EXPECT_TRUE(owner_->collector->SetPlayed(good));
  ChunkStart start = owner_->collector->StartOf(2);
  start.rows.pop_back();
  EXPECT_FALSE(player->collector->SetStart(start));
  start.chunk = kChunks;
  EXPECT_FALSE(player->collector->SetStart(start));
}

}  // namespace
}  // namespace backplane::toy
