// One episode as either implementation recorded it, and the first difference between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backplane::parity {

struct Episode {
  std::vector<double> state;                   // the initial state: the oracle's state_size numbers
  std::vector<std::vector<float>> obs;         // [steps + 1][n_obs]
  std::vector<std::vector<float>> actions;     // [steps][n_action]
  std::vector<float> reward;                   // [steps]
  std::vector<std::vector<float>> info;        // [steps][n_info]
  std::vector<uint8_t> terminated, truncated;  // [steps]

  size_t steps() const { return actions.size(); }
};

// The oracle's answer to "play", in the shape of `like`. Throws std::runtime_error for a different shape.
Episode FromBytes(const std::vector<char>& bytes, const Episode& like);

// A sentence with the first step and value whose bits differ; empty if all are equal. `info_names` is [n_info].
std::optional<std::string> FirstDifference(const Episode& ours, const Episode& theirs,
                                           const std::vector<std::string>& info_names);

}  // namespace backplane::parity
