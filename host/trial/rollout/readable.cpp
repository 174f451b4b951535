#include "rollout/readable.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace backplane {
namespace {

constexpr uint64_t kPage = 4096;  // no page is smaller
constexpr size_t kPlacesAtOnce = 512;

uint64_t ToPageEnd(const void* at) { return kPage - reinterpret_cast<uintptr_t>(at) % kPage; }

}  // namespace

bool CopyReadable(void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) return true;
  if (from == nullptr || reinterpret_cast<uintptr_t>(from) + bytes < reinterpret_cast<uintptr_t>(from)) return false;
  const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (copied >= 0) return static_cast<uint64_t>(copied) == bytes;
  if (errno == EFAULT) return false;
  std::memcpy(to, from, bytes);
  return true;
}

bool IsReadable(const void* from, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(from), end = begin + bytes;
  if (bytes == 0) return true;
  if (from == nullptr || end < begin) return false;
  char byte[kPlacesAtOnce];
  std::vector<iovec> places;
  for (uintptr_t at = begin; at < end;) {
    places.clear();
    for (; at < end && places.size() < kPlacesAtOnce; at = at / kPage * kPage + kPage)
      places.push_back({reinterpret_cast<void*>(at), 1});
    const iovec local{byte, places.size()};
    const ssize_t copied = process_vm_readv(getpid(), &local, 1, places.data(), places.size(), 0);
    if (copied < 0 && errno != EFAULT) return true;
    if (copied < 0 || static_cast<size_t>(copied) != places.size()) return false;
  }
  return true;
}

std::optional<std::string> ReadableText(const char* from, uint64_t most) {
  std::string text;
  while (text.size() < most) {
    char piece[kPage];
    const char* at = from + text.size();
    const uint64_t n = std::min(ToPageEnd(at), most - text.size());
    if (!CopyReadable(piece, at, n)) return std::nullopt;
    const void* end = std::memchr(piece, '\0', n);
    if (end != nullptr) return text.append(piece, static_cast<size_t>(static_cast<const char*>(end) - piece));
    text.append(piece, n);
  }
  return text;
}

}  // namespace backplane
