// The states of many carts, one array per number, stepped with the processor's vector instructions. A row's bits equal the
// result of State::Step, whichever rows are stepped with it.
#pragma once

#include <cstdint>
#include <vector>

#include "cartpole.hpp"

namespace cartpole {

class Rows {
 public:
  explicit Rows(uint64_t rows) : x_(rows), x_dot_(rows), theta_(rows), theta_dot_(rows) {}

  State Get(uint64_t row) const { return {x_[row], x_dot_[row], theta_[row], theta_dot_[row]}; }
  void Set(uint64_t row, const State& state) {
    x_[row] = state.x, x_dot_[row] = state.x_dot, theta_[row] = state.theta, theta_dot_[row] = state.theta_dot;
  }
  // One step of rows [begin, end), to the right if an action is 1: action [end - begin], obs [end - begin, 4], fallen [end -
  // begin]. Concurrent calls must not share rows.
  void Step(uint64_t begin, uint64_t end, const int32_t* action, float* obs, uint8_t* fallen);

 private:
  std::vector<double> x_, x_dot_, theta_, theta_dot_;
};

}  // namespace cartpole
