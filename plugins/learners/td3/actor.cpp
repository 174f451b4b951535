#include "actor.hpp"

#include <algorithm>
#include <vector>

#include "nn/normals.hpp"

namespace backplane::td3 {

void Actor::Sample(const float* head, uint64_t /*key*/, float* out) const { std::copy_n(head, actions(), out); }

void Actor::Perturb(uint64_t key, float* squashed) const {
  static thread_local std::vector<float> noise;
  noise.resize(static_cast<size_t>(actions()));
  nn::FillNormals(key, 0, actions(), noise.data());
  for (int64_t k = 0; k < actions(); ++k) squashed[k] += noise_ * noise[k];
}

}  // namespace backplane::td3
