#include "net.hpp"

namespace backplane::dqn {

Net::Net(const NetShape& s) : obs(s.obs), choices(s.choices), dueling(s.dueling), masked(s.masked) {
  tower = MakeTower(obs, s.hidden, choices + (dueling ? 1 : 0), s.activation, &size);
}

}  // namespace backplane::dqn
