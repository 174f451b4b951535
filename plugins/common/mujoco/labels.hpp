// Names and units of the numbers in MuJoCo's arrays, for "bp.env.labels/1".
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/env_labels.hpp"
#include "mujoco/model.hpp"

namespace mj {

// The controls, by their joints. A control of a plain motor has its strength as its unit: "150 N m".
std::vector<bp::Label> ActuatorLabels(const mjModel* model);

// Receives the parts of an observation, as out(values, n) of Task::Observe, and finds out in which array of `data` each lies.
// Numbers of other arrays stay undeclared. A function with a kName, such as Sine, adds it and drops the unit.
class ListLabels {
 public:
  ListLabels(const mjModel* model, const mjData& data, std::vector<bp::Label>* out) : model_(model), data_(data), out_(out) {}

  template <class... F>
  void operator()(const mjtNum* values, int64_t n, const F&...) const {
    for (int64_t i = 0; i < n; ++i) {
      bp::Label label = LabelOf(values + i);
      if constexpr ((requires { F::kName; } && ...) && sizeof...(F) > 0) label = {(F::kName + ... + label.name), ""};
      out_->push_back(label);
    }
  }

 private:
  bp::Label LabelOf(const mjtNum* value) const;

  const mjModel* model_;
  const mjData& data_;
  std::vector<bp::Label>* out_;
};

}  // namespace mj
