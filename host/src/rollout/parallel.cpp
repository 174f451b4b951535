#include "rollout/parallel.hpp"

#include <atomic>

#include "rollout/instance.hpp"

namespace backplane {

void ParallelFor::Run(uint64_t n, void (*piece)(void*, uint64_t), void* context) {
  if (threads_ < 2 || n < 2) {
    for (uint64_t i = 0; i < n; ++i) piece(context, i);
    return;
  }
  if (!pool_) pool_.emplace(threads_);
  std::atomic<uint64_t> next{0};
  const char* const plugin = tls_running_plugin;  // a crash in a piece is the caller's
  pool_->Run(
      [&](unsigned thread) {
        if (thread > 0) tls_running_plugin = plugin;
        for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) piece(context, i);
        if (thread > 0) tls_running_plugin = "";
      },
      [] {});
}

}  // namespace backplane
