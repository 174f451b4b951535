// bp_embed_error: the text of the calling thread's last error.
#pragma once

#include <string>
#include <utility>

#include "backplane/base.h"
#include "rollout/failure.hpp"

namespace backplane {

// Returns `status`. The overload with a constant text does not allocate, so a signal handler may call it.
bp_status SayError(bp_status status, const char* constant) noexcept;
bp_status SayError(bp_status status, const std::string& text) noexcept;
void ForgetError() noexcept;
const char* LastError() noexcept;
const char* UnknownOptions() noexcept;

// The caller gave unknown options; their names as a JSON list.
class UnknownOptionsError : public TrialFailure {
 public:
  UnknownOptionsError(std::string names, const std::string& text)
      : TrialFailure(BP_E_CONFIG, "", text), names_(std::move(names)) {}
  const std::string& names() const { return names_; }

 private:
  std::string names_;
};

// The text stays valid until the thread's next call of the same function.
const char* LendText(std::string text);

// Throws TrialFailure if a caller's argument is NULL.
inline void Require(const void* argument, const char* name) {
  if (argument == nullptr) throw TrialFailure(BP_E_INVALID_ARG, "", std::string(name) + ": expected a pointer, got NULL");
}

// Runs `body` and converts its exceptions to a status with a sentence.
bp_status StatusOfException() noexcept;
template <class Body>
bp_status Answer(Body&& body) noexcept {
  ForgetError();
  try {
    body();
    return BP_OK;
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace backplane
