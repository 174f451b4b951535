// Mixed precision of updates by built-in kernels.
#pragma once

#include "backplane/options.hpp"
#include "nn/bf16.hpp"
#include "nn/matrix.hpp"

namespace backplane::on_policy {

// Throws bp::ConfigError if it is requested but the processor does not support it.
inline nn::Precision FusedPrecision(bool use_amp, bool has_bf16 = nn::HasBf16()) {
  if (use_amp && !has_bf16) {
    throw bp::ConfigError(
        "use_amp: expected a CPU with avx512_bf16, got one without, on which it would only be slower; update_path: torch uses "
        "it anyway");
  }
  return use_amp ? nn::Precision::kBf16 : nn::Precision::kFull;
}

}  // namespace backplane::on_policy
