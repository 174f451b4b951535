#include "workers/frame.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/hash64.hpp"

namespace backplane {
namespace {

constexpr size_t kKeptBytes = 1 << 20;        // of frames already read
constexpr uint32_t kFrameMagic = 0x31575042;  // "BPW1"

struct FrameHeader {
  uint32_t magic, kind;
  uint64_t size, hash;  // size: of the body; the hash covers kind and body
};

uint64_t HashOf(const FrameHeader& header, const std::byte* body) {
  Hash64 hash;
  hash.Add(&header.kind, sizeof header.kind);
  hash.Add(body, header.size);
  return hash.Value();
}

}  // namespace

std::vector<std::byte> BytesOf(const Frame& frame) {
  FrameHeader header{kFrameMagic, static_cast<uint32_t>(frame.kind), frame.body.size(), 0};
  header.hash = HashOf(header, frame.body.data());
  std::vector<std::byte> bytes(sizeof header + frame.body.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!frame.body.empty()) std::memcpy(bytes.data() + sizeof header, frame.body.data(), frame.body.size());
  return bytes;
}

std::optional<Frame> FrameReader::Next() {
  FrameHeader header;
  const size_t there = bytes_.size() - at_;
  if (there < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes_.data() + at_, sizeof header);
  if (header.magic != kFrameMagic)
    throw FrameError(fmt::format("expected a frame that begins with {:08x}, got {:08x}", kFrameMagic, header.magic));
  if (header.kind < static_cast<uint32_t>(FrameKind::kHello) || header.kind > static_cast<uint32_t>(FrameKind::kPlayed))
    throw FrameError(fmt::format("expected a frame of a known kind, got kind {}", header.kind));
  if (header.size > kMostFrameBytes)
    throw FrameError(fmt::format("expected a frame of at most {} bytes, got {}", kMostFrameBytes, header.size));
  if (there - sizeof header < header.size) return std::nullopt;
  const std::byte* const body = bytes_.data() + at_ + sizeof header;
  if (const uint64_t hash = HashOf(header, body); hash != header.hash)
    throw FrameError(fmt::format("expected a frame with the hash {:016x}, got {:016x}", header.hash, hash));
  Frame frame{static_cast<FrameKind>(header.kind), {body, body + header.size}};
  at_ += sizeof header + header.size;
  if (at_ == bytes_.size() || at_ > kKeptBytes) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
  }
  return frame;
}

bool SendAll(int fd, const std::vector<std::byte>& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<size_t> SendSome(int fd, const std::vector<std::byte>& bytes) {
  for (size_t sent = 0;;) {
    if (sent == bytes.size()) return sent;
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return sent;
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

Received ReceiveInto(int fd, bool wait, FrameReader* reader) {
  std::array<std::byte, 64 << 10> piece;
  for (;;) {
    const ssize_t n = recv(fd, piece.data(), piece.size(), wait ? 0 : MSG_DONTWAIT);
    if (n > 0) {
      reader->Add(piece.data(), static_cast<size_t>(n));
      return Received::kSome;
    }
    if (n == 0) return Received::kEnd;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK ? Received::kNothing : Received::kEnd;
  }
}

}  // namespace backplane
