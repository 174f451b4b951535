#include "net.hpp"

namespace backplane::mappo {

Net::Net(const NetShape& s) : obs(s.obs), state(s.state), actions(s.actions), size(0) {
  actor = MakeTower(s.obs, s.hidden, s.actions, s.activation, &size, s.memory);
  split = size;
  critic = MakeTower(s.state + s.obs, s.vf_hidden, 1, s.activation, &size);
}

}  // namespace backplane::mappo
