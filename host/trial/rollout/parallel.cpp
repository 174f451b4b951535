#include "rollout/parallel.hpp"

#include <algorithm>

#include "rollout/instance.hpp"

namespace backplane {

void ParallelFor::Run(uint64_t n, void (*piece)(void*, uint64_t), void* context) {
  if (pool_.running() || pool_.threads() < 2 || n < 2) {
    for (uint64_t i = 0; i < n; ++i) piece(context, i);
    return;
  }
  const char* const plugin = tls_running_plugin;  // a crash in a piece is blamed on the caller
  PhaseClock& caller = clocks_[0];
  const bool timed = caller.running();
  const Phase phase = caller.current();
  pool_.Share(
      static_cast<unsigned>(std::min<uint64_t>(n, pool_.threads())), n,
      [&](unsigned runner, SharedPieces& pieces) {
        const auto take = [&] { pieces.Take(runner, [&](uint64_t i) { piece(context, i); }); };
        if (runner == 0) return take();
        if (timed) clocks_[runner].Start(phase);
        tls_running_plugin = plugin;
        take();
        RestoreFloatModes(plugin);
        tls_running_plugin = "";
        clocks_[runner].Stop();
      },
      [&] {
        if (timed) caller.Switch(Phase::kIdle);
      });
  if (timed) caller.Switch(phase);
}

}  // namespace backplane
