#include "validate/doing.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

namespace backplane {
namespace {

Doing g_alone;  // until memory is shared
Doing* g_doing = &g_alone;

size_t Index(PluginCall call) { return static_cast<size_t>(call); }

template <class Predicate>
CallSet CallsThat(Predicate&& fits) {
  CallSet calls;
  for (size_t i = Index(PluginCall::kOutside); i < Index(PluginCall::kEnd); ++i)
    if (fits(i)) calls |= CallSet{static_cast<PluginCall>(i)};
  return calls;
}

}  // namespace

CallSet Doing::Inside() const {
  return CallsThat([this](size_t i) { return inside[i].load(std::memory_order_relaxed) > 0; });
}

CallSet Doing::Called() const {
  return CallsThat([this](size_t i) { return (called.load(std::memory_order_relaxed) >> i & 1) != 0; });
}

Doing* ShareDoing() {
  if (g_doing != &g_alone) return g_doing;
  void* shared = mmap(nullptr, sizeof(Doing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) g_doing = new (shared) Doing;
  return g_doing;
}

void BeginDoing() { new (g_doing) Doing; }

// If two threads set the text, one whole text remains. Without a mutex, because a case counts locks.
void NowDoing(const std::string& what) {
  static std::atomic_flag writes;
  while (writes.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  const size_t n = std::min(what.size(), sizeof g_doing->what - 1);
  std::memcpy(g_doing->what, what.data(), n);
  g_doing->what[n] = '\0';
  writes.clear(std::memory_order_release);
}

void NowLeaving() { g_doing->leaving = true; }

std::string LastDoing() {
  // Called by instances, because no case can.
  constexpr CallSet kUntold = {PluginCall::kDestroy, PluginCall::kSpec, PluginCall::kGetExtension, PluginCall::kEnvOfLearner};
  if (const CallSet inside = g_doing->Inside() & kUntold; !inside.empty()) return std::string(Word(inside.First()));
  return {g_doing->what, strnlen(g_doing->what, sizeof g_doing->what)};
}

InCall::InCall(PluginCall call) : inside_(g_doing->inside[Index(call)]) {
  inside_.fetch_add(1, std::memory_order_relaxed);
  // Read by a process that watches for changes, so a lost count is harmless.
  g_doing->entered.store(g_doing->entered.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const uint64_t bit = uint64_t{1} << Index(call);
  if ((g_doing->called.load(std::memory_order_relaxed) & bit) == 0) g_doing->called.fetch_or(bit, std::memory_order_relaxed);
}

}  // namespace backplane
