// The bounds of observations: counts the observations outside them and reports the first, or ends the trial.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/host.h"

namespace backplane::python_env {

// A space within an observation. `where` is its place as Python writes it: "observation['position']".
struct Part {
  std::string where;
  uint64_t first;  // number in the channel
  std::vector<int64_t> shape;
};

struct BoundedChannel {
  size_t channel;     // of the env's channels
  uint64_t elements;  // per row or agent
  std::vector<Part> parts;
  std::vector<float> low = {}, high = {};  // [elements]; empty: unbounded
};

class ObservationBounds {
 public:
  ObservationBounds(const bp_host* host, bool is_error) : host_(host), is_error_(is_error) {}
  ~ObservationBounds();
  ObservationBounds(const ObservationBounds&) = delete;

  // Bounds as in bp::Channel.
  void Add(BoundedChannel channel, const std::vector<double>& low, const std::vector<double>& high);
  void NameAgents(std::vector<std::string> names) { agents_ = std::move(names); }
  const std::vector<BoundedChannel>& channels() const { return channels_; }
  // The places of all parts, if a channel has several: "obs: 0..1 observation['position'], 2 observation['speed']"; else empty.
  std::string Parts() const;

  // Checks the observation of a row's agent. Throws bp::Error if an observation outside is an error. NaN is not outside.
  template <class T>
  void Check(const BoundedChannel& bounds, uint64_t row, uint64_t agent, const T* values) {
    int outside = 0;  // a count, so that the loop has no branch
    for (uint64_t i = 0; i < bounds.low.size(); ++i) {
      const auto value = static_cast<float>(values[i]);
      outside += static_cast<int>(value < bounds.low[i]) + static_cast<int>(value > bounds.high[i]);
    }
    if (outside > 0) [[unlikely]]
      Report(bounds, row, agent, FirstOutside(bounds, values));
  }

 private:
  struct Outside {
    uint64_t element;
    float value;
  };
  template <class T>
  static Outside FirstOutside(const BoundedChannel& bounds, const T* values) {
    for (uint64_t i = 0;; ++i)
      if (const auto value = static_cast<float>(values[i]); value < bounds.low[i] || value > bounds.high[i]) return {i, value};
  }
  void Report(const BoundedChannel& bounds, uint64_t row, uint64_t agent, Outside found);

  const bp_host* host_;
  bool is_error_;
  std::vector<BoundedChannel> channels_;
  std::vector<std::string> agents_;
  uint64_t count_ = 0, next_log_ = 10;
};

}  // namespace backplane::python_env
