// Rejects saved states with impossible numbers, because they are damaged.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

template <class T>
[[noreturn]] void RefuseSaved(const char* what, const char* wanted, T found) {
  throw bp::Error(BP_E_INVALID_ARG,
                  std::string("saved state: ") + what + ": expected " + wanted + ", got " + std::to_string(found));
}

template <class T>
void NeedSavedFinite(const T* values, uint64_t n, const char* what) {
  for (uint64_t i = 0; i < n; ++i)
    if (!std::isfinite(values[i])) RefuseSaved(what, "finite", values[i]);
}

// Counts, steps, sums of squares.
template <class T>
void NeedSavedFromZero(const T* values, uint64_t n, const char* what) {
  for (uint64_t i = 0; i < n; ++i)
    if (!(values[i] >= 0) || !std::isfinite(static_cast<double>(values[i])))
      RefuseSaved(what, "finite and 0 or more", values[i]);
}

// A list with its length. Reads it if the length matches, else skips it without allocating memory.
inline void GetAllOrPass(const bp::Reader& reader, std::vector<double>* out) {
  const auto n = reader.Get<uint64_t>();
  if (n == out->size()) return reader.Bytes(out->data(), out->size() * sizeof(double));
  for (uint64_t i = 0; i < n; ++i) reader.Get<double>();  // throws at the end of the data
}

}  // namespace backplane::rl
