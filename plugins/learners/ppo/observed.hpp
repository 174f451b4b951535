// The observations of a call of `act` or of a delivery, from one or several channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "env_shape.hpp"
#include "on_policy/vision.hpp"
#include "rl/observations.hpp"

namespace backplane::ppo {

class Observed {
 public:
  // find(channel) returns its tensor.
  template <class Find>
  void Bind(const std::vector<ObsChannel>& channels, Find&& find) {
    parts_.clear(), images_.clear(), size_ = 0;
    for (const ObsChannel& each : channels) {
      const bp_tensor* const tensor = find(each);
      const rl::Observations numbers(tensor, each.name.c_str());
      if (each.image) bp::View<const uint8_t>(tensor, each.name.c_str()), images_.push_back(tensor);
      if (each.image) continue;
      parts_.push_back({numbers, each.size});
      size_ += each.size;
    }
  }
  // The numbers of all channels without images at an index, in their order; valid until the thread's next call.
  template <class... Index>
  const float* At(Index... index) const {
    if (parts_.size() == 1) return parts_[0].view.At(size_, index...);
    static thread_local std::vector<float> joined;
    joined.resize(static_cast<size_t>(size_));
    float* to = joined.data();
    for (const Part& part : parts_) to = std::copy_n(part.view.At(part.size, index...), part.size, to);
    return joined.data();
  }

  // The images of tensors [n, ...], of all entries of tensors [steps, rows, ...], and of their entry t.
  std::vector<on_policy::Pixels> Images() const {
    return Each([](const bp_tensor& t, const uint8_t* data) { return on_policy::Pixels{data, 1, t.strides[0], 0}; });
  }
  std::vector<on_policy::Pixels> ImagesOfSteps() const {
    return Each([](const bp_tensor& t, const uint8_t* data) {
      return on_policy::Pixels{data, t.shape[1], t.strides[0], t.strides[1]};
    });
  }
  std::vector<on_policy::Pixels> ImagesOfStep(int64_t step) const {
    return Each([step](const bp_tensor& t, const uint8_t* data) {
      return on_policy::Pixels{data + step * t.strides[0], 1, t.strides[1], 0};
    });
  }

 private:
  struct Part {
    rl::Observations view;
    int64_t size;
  };
  template <class Place>
  std::vector<on_policy::Pixels> Each(Place&& place) const {
    std::vector<on_policy::Pixels> all;
    for (const bp_tensor* t : images_) all.push_back(place(*t, static_cast<const uint8_t*>(t->data)));
    return all;
  }

  std::vector<Part> parts_;
  std::vector<const bp_tensor*> images_;
  int64_t size_ = 0;
};

// The observations of a rollout, or with `last` the last ones of its episodes.
inline Observed ObservedIn(const bp::Delivery& delivery, const std::vector<ObsChannel>& channels, bool last = false) {
  Observed observed;
  observed.Bind(channels, [&](const ObsChannel& each) { return delivery.Find((last ? each.final_name : each.name).c_str()); });
  return observed;
}

}  // namespace backplane::ppo
