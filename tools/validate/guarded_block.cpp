#include "validate/guarded_block.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>

#include "rollout/guard.hpp"
#include "validate/doing.hpp"

namespace backplane {
namespace {

// A list that a signal handler can walk. An instance of a large env has some hundreds.
struct Known {
  std::atomic<const std::byte*> from{nullptr};
  const std::byte *data = nullptr, *end = nullptr, *to = nullptr;
  const char* name = nullptr;
};
std::array<Known, 4096> g_known;
std::mutex g_known_mutex;

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void OnFault(int signal_number, siginfo_t* info, void*) {
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  for (const Known& one : g_known) {
    const std::byte* from = one.from.load(std::memory_order_acquire);
    if (from == nullptr || at < from || at >= one.to) continue;
    const bool before = at < one.data;
    const int64_t distance = before ? one.data - at : at - one.end;
    std::snprintf(ShareDoing()->fault, sizeof(Doing::fault), "an access %lld bytes %s %s of %s",
                  static_cast<long long>(distance), before ? "before" : "after", before ? "the start" : "the end", one.name);
    break;
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

GuardedBlock::GuardedBlock(std::string name, uint64_t bytes) : name_(std::move(name)), bytes_(bytes) {
  const uint64_t page = PageBytes();
  const uint64_t inner = (bytes + 64 + page - 1) / page * page;  // some bytes in front, for any `bytes`
  mapped_ = inner + 2 * page;
  void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  map_ = static_cast<std::byte*>(map);
  if (mprotect(map_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  data_ = map_ + page + inner - (bytes + 63) / 64 * 64;
  FillGuard(map_ + page, static_cast<uint64_t>(data_ - (map_ + page)));
  FillGuard(data_ + bytes_, static_cast<uint64_t>(map_ + page + inner - (data_ + bytes_)));
  const std::lock_guard lock(g_known_mutex);
  for (Known& one : g_known) {
    if (one.from != nullptr) continue;
    one.data = data_, one.end = data_ + bytes_, one.to = map_ + mapped_, one.name = name_.c_str();
    one.from.store(map_, std::memory_order_release);
    return;
  }
}

GuardedBlock::~GuardedBlock() {
  {
    const std::lock_guard lock(g_known_mutex);
    for (Known& one : g_known)
      if (one.from == map_) one.from = nullptr;
  }
  munmap(map_, mapped_);
}

std::optional<std::string> GuardedBlock::Break() const {
  const std::byte* begin = map_ + PageBytes();
  const std::byte* end = map_ + mapped_ - PageBytes();
  if (const auto distance = GuardChange(begin, static_cast<uint64_t>(data_ - begin), true))
    return "a byte changed " + std::to_string(*distance) + " bytes before the start of " + name_;
  if (const auto distance = GuardChange(data_ + bytes_, static_cast<uint64_t>(end - (data_ + bytes_)), false))
    return "a byte changed " + std::to_string(*distance) + " bytes after the end of " + name_;
  return std::nullopt;
}

void TellFaultsInGuards() {
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  for (const int s : {SIGSEGV, SIGBUS}) sigaction(s, &action, nullptr);
}

}  // namespace backplane
