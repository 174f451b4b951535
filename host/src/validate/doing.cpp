#include "validate/doing.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

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

void NowDoing(const std::string& what) {
  const size_t n = std::min(what.size(), sizeof g_doing->what - 1);
  std::memcpy(g_doing->what, what.data(), n);
  g_doing->what[n] = '\0';
}

std::string LastDoing() { return {g_doing->what, strnlen(g_doing->what, sizeof g_doing->what)}; }

}  // namespace backplane
