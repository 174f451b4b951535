// Arms that are paid for bringing a thing to a goal: the parts that Reacher and Pusher of Gymnasium share.
#pragma once

#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace mj {

struct ArmOptions : TaskOptions {
  double reward_dist_weight = 1, reward_control_weight = 1;
};

// The terms of the reward, each at most 0 for a positive weight. The task never terminates.
struct ArmTerms {
  double dist = 0, ctrl = 0, near = 0;
  static constexpr bool terminated = false;
  double Reward() const { return dist + ctrl + near; }
};

template <class T, class W>
class Arm : public Task<T, W> {
 public:
  using Task<T, W>::Task;
  using Terms = ArmTerms;
  static constexpr bool kContactForces = false;

  std::string Caption(const W& w) const {
    const auto [a, b] = static_cast<const T*>(this)->Gap(w);
    std::string text;
    bp::Print(&text, "%.2f s, %.3f m from the goal", this->data().time, Distance(a, b));
    return text;
  }

 protected:
  const mjtNum* Position(int body) const { return this->data().xpos + 3 * body; }  // [3]
  double Distance(int a, int b) const {
    const mjtNum *p = Position(a), *q = Position(b);
    return Norm(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  }
};

}  // namespace mj
