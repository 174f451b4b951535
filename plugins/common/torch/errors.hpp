// Converts LibTorch's exceptions to the plugin's: short messages instead of C++ backtraces, with separate codes for
// out-of-memory.
#pragma once

#include <c10/util/Exception.h>

#include <string>

#include "backplane/plugin.hpp"

namespace backplane::torch_common {

template <class Body>
auto WithTorchErrors(Body&& body) {
  try {
    return body();
  } catch (const c10::OutOfMemoryError& e) {
    throw bp::Error(BP_E_OOM_DEVICE, e.what_without_backtrace());
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    // The CPU allocator has no exception class.
    const bool host_oom = text.find("DefaultCPUAllocator") != std::string::npos;
    throw bp::Error(host_oom ? BP_E_OOM_HOST : BP_E_INTERNAL, text);
  }
}

}  // namespace backplane::torch_common
