// The format of a saved ARS learner: mean weights, observation statistics, the key of the random streams, Adam. Fixed order and
// no padding, so that equal states give equal bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "filter.hpp"

namespace backplane::ars {

// The header, which must match the learner that loads the state.
struct StateShape {
  enum Kind : uint64_t { kDiscrete = 1, kNormalize = 2, kBias = 4, kTanh = 8, kSquash = 16, kAdam = 32 };
  uint64_t kind, obs, outputs;
  std::vector<uint64_t> hidden;
};

struct Counters {
  uint64_t seed, iteration;
  int64_t adam_steps;
};

// Weights and Adam's moments have the policy's size; the moments are ignored without Adam.
void WriteState(const bp::Writer& writer, const StateShape& shape, const std::vector<double>& mean,
                const std::vector<double>& adam_m, const std::vector<double>& adam_v, const ObsFilter& filter,
                const Counters& counters);
uint64_t HeaderSize(const StateShape& shape);  // bytes before the weights and their number
// Throws bp::Error for data that are no state of this shape, possibly after loading a part.
void ReadState(const bp::Reader& reader, const StateShape& shape, std::vector<double>* mean, std::vector<double>* adam_m,
               std::vector<double>* adam_v, ObsFilter* filter, Counters* counters);

}  // namespace backplane::ars
