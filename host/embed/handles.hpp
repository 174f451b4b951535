// The handles that callers hold: numbers instead of addresses, so that a closed one is recognized forever.
#pragma once

#include <memory>

#include "backplane/embed.h"

namespace backplane {

class EmbeddedEnv;

// Throws TrialFailure if there are too many.
bp_embed* NewHandle(std::unique_ptr<EmbeddedEnv> env);

// Grants one call at a time access to a handle. Neither locks nor allocates, because a signal handler may call it.
class HandleUse {
 public:
  explicit HandleUse(const bp_embed* handle) noexcept;
  ~HandleUse();
  HandleUse(const HandleUse&) = delete;

  EmbeddedEnv* env() const { return env_; }  // NULL: it is unusable now, and an error is set
  // Invalidates the handle.
  std::unique_ptr<EmbeddedEnv> Close();

 private:
  struct Slot* slot_ = nullptr;
  EmbeddedEnv* env_ = nullptr;
};

}  // namespace backplane
