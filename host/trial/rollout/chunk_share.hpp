// Chunks of a rollout that processes hand to each other: the rows' state before it, and everything that was played.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rollout/rows.hpp"

namespace backplane {

// The state of a chunk's rows before a rollout.
struct ChunkStart {
  uint64_t chunk = 0;
  std::vector<RowState> rows;
  std::vector<std::byte> env;     // snapshots of the rows; empty: they start new episodes
  std::vector<std::byte> states;  // their current OBS and other channels of states

  static void Fields(auto& self, auto&& visit) { visit(self.chunk), visit(self.rows), visit(self.env), visit(self.states); }
};

// The results of a chunk.
struct ChunkPlayed {
  struct Ended {
    uint64_t t = 0, row = 0;
    double episode_return = 0;
    int64_t length = 0;
  };
  uint64_t chunk = 0;
  std::vector<std::byte> channels;  // its rows of all channels, one after the other; empty: they are in shared memory
  std::vector<Ended> episodes;      // by (t, row)
  std::vector<double> infos;        // of each episode
  std::vector<std::byte> finals;    // last observations of the episodes, per RolloutBuffers::observed
  std::vector<double> moments;      // count, mean and m2 of each block of rows
  std::vector<RowState> rows;       // after the rollout
  std::vector<std::byte> env;       // snapshots of the rows after it
  uint64_t own_steps = 0;           // of the env below wrappers

  static void Fields(auto& self, auto&& visit) {
    visit(self.chunk), visit(self.channels), visit(self.episodes), visit(self.infos), visit(self.finals);
    visit(self.moments), visit(self.rows), visit(self.env), visit(self.own_steps);
  }
};

}  // namespace backplane
