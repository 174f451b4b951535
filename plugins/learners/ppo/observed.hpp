// The observations of a call of `act` or of a delivery, from one or several channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "env_shape.hpp"
#include "rl/observations.hpp"

namespace backplane::ppo {

class Observed {
 public:
  // find(channel) returns its tensor.
  template <class Find>
  void Bind(const std::vector<ObsChannel>& channels, Find&& find) {
    parts_.clear(), size_ = 0;
    for (const ObsChannel& each : channels) {
      parts_.push_back({rl::Observations(find(each), each.name.c_str()), each.size});
      size_ += each.size;
    }
  }
  // The numbers of all channels at an index, in their order; valid until the thread's next call.
  template <class... Index>
  const float* At(Index... index) const {
    if (parts_.size() == 1) return parts_[0].view.At(size_, index...);
    static thread_local std::vector<float> joined;
    joined.resize(static_cast<size_t>(size_));
    float* to = joined.data();
    for (const Part& part : parts_) to = std::copy_n(part.view.At(part.size, index...), part.size, to);
    return joined.data();
  }

 private:
  struct Part {
    rl::Observations view;
    int64_t size;
  };
  std::vector<Part> parts_;
  int64_t size_ = 0;
};

// The observations of a rollout, or with `last` the last ones of its episodes.
inline Observed ObservedIn(const bp::Delivery& delivery, const std::vector<ObsChannel>& channels, bool last = false) {
  Observed observed;
  observed.Bind(channels,
                [&](const ObsChannel& each) { return delivery.Find((last ? each.final_name : each.name).c_str()); });
  return observed;
}

}  // namespace backplane::ppo
