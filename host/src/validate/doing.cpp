#include "validate/doing.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace backplane {
namespace {

Doing g_alone;  // until some is shared
Doing* g_doing = &g_alone;

}  // namespace

Doing* ShareDoing() {
  if (g_doing != &g_alone) return g_doing;
  void* shared = mmap(nullptr, sizeof(Doing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) g_doing = new (shared) Doing;
  return g_doing;
}

void BeginDoing() { *g_doing = Doing{}; }

// Two threads may say what they do: one whole text stays. No mutex, as those are counted by a case.
void NowDoing(const std::string& what) {
  static std::atomic_flag writes;
  while (writes.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  const size_t n = std::min(what.size(), sizeof g_doing->what - 1);
  std::memcpy(g_doing->what, what.data(), n);
  g_doing->what[n] = '\0';
  writes.clear(std::memory_order_release);
}

void NowLeaving() { g_doing->leaving = true; }

std::string LastDoing() { return {g_doing->what, strnlen(g_doing->what, sizeof g_doing->what)}; }

}  // namespace backplane
