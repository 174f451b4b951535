// One episode as both sides tell it, and where the two differ first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backplane::parity {

struct Episode {
  std::vector<double> state;                   // it starts here: what the oracle's state_size counts
  std::vector<std::vector<float>> obs;         // [steps + 1][n_obs]
  std::vector<std::vector<float>> actions;     // [steps][n_action]
  std::vector<float> reward;                   // [steps]
  std::vector<std::vector<float>> info;        // [steps][n_info]
  std::vector<uint8_t> terminated, truncated;  // [steps]

  size_t steps() const { return actions.size(); }
};

// The oracle's answer to "play", which has the shape of `like`. Throws std::runtime_error if it has another.
Episode FromBytes(const std::vector<char>& bytes, const Episode& like);

// The first step and value whose bits differ, as a sentence; `info_names` [n_info]. Nothing: all are equal.
std::optional<std::string> FirstDifference(const Episode& ours, const Episode& theirs,
                                           const std::vector<std::string>& info_names);

}  // namespace backplane::parity
