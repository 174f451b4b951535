#include "workers/listener.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "workers/messages.hpp"

namespace backplane {
namespace {

constexpr int kToSayHello_ms = 10'000, kLookAgain_ms = 20;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses Resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list); error != 0)
    throw std::runtime_error(fmt::format("cannot resolve {}: {}", host, gai_strerror(error)));
  return Addresses(list);
}

// Small frames must not be delayed, and a lost machine must be noticed.
void SetUpStream(int fd) {
  const int on = 1, idle_s = 15, every_s = 5, times = 3;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

// Leaves the bytes in the stream, because the trial reads the Hello too. Absent: it is not our worker.
std::optional<Hello> PeekHello(int fd) {
  std::array<std::byte, 4096> piece;
  for (int waited_ms = 0; waited_ms < kToSayHello_ms; waited_ms += kLookAgain_ms) {
    const ssize_t n = recv(fd, piece.data(), piece.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    try {
      FrameReader reader;
      if (n > 0) reader.Add(piece.data(), static_cast<size_t>(n));
      if (const std::optional<Frame> frame = reader.Next())
        return frame->kind == FrameKind::kHello ? std::optional(MessageOf<Hello>(*frame)) : std::nullopt;
    } catch (const FrameError&) {
      return std::nullopt;
    }
    if (n == static_cast<ssize_t>(piece.size())) return std::nullopt;
    poll(nullptr, 0, kLookAgain_ms);
  }
  return std::nullopt;
}

}  // namespace

WorkerListener::WorkerListener(const std::string& address, std::string token) : token_(std::move(token)) {
  const Addresses found = Resolve(address, "0", AI_PASSIVE | AI_NUMERICHOST);
  fd_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (fd_ < 0 || bind(fd_, found->ai_addr, found->ai_addrlen) != 0 || listen(fd_, 64) != 0 ||
      getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) close(fd_);
    throw std::runtime_error(fmt::format("cannot listen for workers at {}: {}", address, why));
  }
  const in_port_t port = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                     : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  at_ = fmt::format("{}:{}", address, ntohs(port));
}

WorkerListener::~WorkerListener() { close(fd_); }

std::optional<WorkerListener::Caller> WorkerListener::Await(int timeout_ms) {
  pollfd calls{fd_, POLLIN, 0};
  if (poll(&calls, 1, timeout_ms) <= 0) return std::nullopt;
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return std::nullopt;
  SetUpStream(fd);
  if (const std::optional<Hello> hello = PeekHello(fd); hello && hello->token == token_) return Caller{hello->number, fd};
  close(fd);
  return std::nullopt;
}

int CallTrial(const std::string& at) {
  const size_t colon = at.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error("expected HOST:PORT, got \"" + at + "\"");
  const Addresses found = Resolve(at.substr(0, colon), at.substr(colon + 1), 0);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    throw std::runtime_error(fmt::format("cannot reach the trial at {}: {}", at, why));
  }
  SetUpStream(fd);
  return fd;
}

}  // namespace backplane
