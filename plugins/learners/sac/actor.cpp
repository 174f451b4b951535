#include "actor.hpp"

#include <vector>

#include "nn/normals.hpp"
#include "squashed.hpp"

namespace backplane::sac {

void Actor::Sample(const float* head, uint64_t key, float* out) const {
  static thread_local std::vector<float> noise;
  noise.resize(static_cast<size_t>(actions()));
  nn::FillNormals(key, 0, actions(), noise.data());
  Squashed(head, noise.data(), actions(), out);
}

}  // namespace backplane::sac
