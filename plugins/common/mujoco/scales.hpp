// Scales physical parameters of a compiled model, for "bp.env.parameters/1".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backplane/env.hpp"
#include "mujoco/model.hpp"

namespace mj {

class Scales {
 public:
  // Mass, friction, actuator gain and gravity, in this order.
  static std::vector<bp::Parameter> Parameters();
  // Sets parameter i of `model`, which is the same in every call, to `factor` times its original value. No row may step
  // meanwhile. Throws bp::Error: the factor must be finite, and more than 0 except for gravity.
  void Set(mjModel* model, uint64_t i, double factor);

 private:
  static constexpr size_t kParameters = 4;
  Model original_;  // a copy of the first call
  std::array<double, kParameters> factors_ = {1, 1, 1, 1};
};

}  // namespace mj
