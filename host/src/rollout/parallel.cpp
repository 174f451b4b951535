#include "rollout/parallel.hpp"

#include <algorithm>
#include <atomic>

#include "rollout/instance.hpp"

namespace backplane {

void ParallelFor::Run(uint64_t n, void (*piece)(void*, uint64_t), void* context) {
  if (pool_.running() || pool_.threads() < 2 || n < 2) {
    for (uint64_t i = 0; i < n; ++i) piece(context, i);
    return;
  }
  std::atomic<uint64_t> next{0};
  const char* const plugin = tls_running_plugin;  // a crash in a piece is the caller's
  PhaseClock& caller = clocks_[0];
  const bool timed = caller.running();
  const Phase phase = caller.current();
  pool_.Run(
      static_cast<unsigned>(std::min<uint64_t>(n, pool_.threads())),
      [&](unsigned runner) {
        if (runner > 0 && timed) clocks_[runner].Start(phase);
        if (runner > 0) tls_running_plugin = plugin;
        for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) piece(context, i);
        if (runner > 0) RestoreFloatModes(plugin);
        if (runner > 0) tls_running_plugin = "";
        if (runner > 0) clocks_[runner].Stop();
      },
      [&] {
        if (timed) caller.Switch(Phase::kIdle);
      });
  if (timed) caller.Switch(phase);
}

}  // namespace backplane
