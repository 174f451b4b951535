// Divides a learner's work into pieces that run on the trial's cores ("bp.host.parallel/1").
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

#include "backplane/host.h"

namespace bp {

// Calls body(i) once for each i < n, in parallel if the host has threads for it, else sequentially. Returns when all have
// ended, then throws the exception of the piece with the lowest index, if any. [control]
template <class Body>
void ParallelFor(const bp_host* host, uint64_t n, Body&& body) {
  struct Context {
    Body& body;
    std::mutex mutex;
    uint64_t failed;
    std::exception_ptr error;
  } context{body, {}, n, nullptr};
  const auto piece = [](void* raw, uint64_t i) {
    Context& c = *static_cast<Context*>(raw);
    try {
      c.body(i);
    } catch (...) {
      const std::lock_guard lock(c.mutex);
      if (i < c.failed) c.failed = i, c.error = std::current_exception();
    }
  };
  const auto* service = static_cast<const bp_host_parallel_1*>(host->get_extension(host, BP_HOST_PARALLEL_1));
  if (service) {
    service->run(host, n, piece, &context);
  } else {
    for (uint64_t i = 0; i < n; ++i) piece(&context, i);
  }
  if (context.error) std::rethrow_exception(context.error);
}

}  // namespace bp
