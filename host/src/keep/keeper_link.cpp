#include "keep/keeper_link.hpp"

namespace backplane {

std::string ToVariable(const KeeperLink& link) {
  std::string text = kKeeperVariable;
  char before = '=';
  for (const int fd : {link.alive_fd, link.kill_fd, link.lock_fd}) {
    text += before + std::to_string(fd);
    before = ' ';
  }
  return text;
}

}  // namespace backplane
