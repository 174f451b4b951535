#include "base/line_peer.hpp"

#include <poll.h>
#include <sys/socket.h>

namespace backplane {

bool LinePeer::Send(std::string_view text) {
  unsent_ += text;
  while (!unsent_.empty()) {
    const ssize_t n = send(sockets_.ours(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    unsent_.erase(0, static_cast<size_t>(n));
  }
  return true;
}

LinePeer::Heard LinePeer::Listen(int timeout_ms) {
  pollfd watched{sockets_.ours(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  if (poll(&watched, 1, timeout_ms) <= 0) return Heard::kNothing;
  char block[Pipe::kBlockBytes];
  const ssize_t n = recv(sockets_.ours(), block, sizeof block, MSG_DONTWAIT);
  if (n > 0) unread_.append(block, static_cast<size_t>(n));
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return Heard::kEnd;
  return Send("") ? Heard::kSome : Heard::kEnd;
}

std::optional<std::string> LinePeer::Next() {
  const size_t end = unread_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

void LinePeer::EndInput() { shutdown(sockets_.ours(), SHUT_WR); }

}  // namespace backplane
