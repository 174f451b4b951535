// The handles that callers hold: numbers, not addresses, so that one that was closed is known as such for ever.
#pragma once

#include <memory>

#include "backplane/embed.h"

namespace backplane {

class EmbeddedEnv;

// Throws TrialFailure if there are too many.
bp_embed* NewHandle(std::unique_ptr<EmbeddedEnv> env);

// The one call that is inside a handle. Nothing here locks or allocates: it may be a signal handler that asks.
class HandleUse {
 public:
  explicit HandleUse(const bp_embed* handle) noexcept;
  ~HandleUse();
  HandleUse(const HandleUse&) = delete;

  EmbeddedEnv* env() const { return env_; }  // NULL: it can not be used now, and an error was said
  // From now on there is no such handle.
  std::unique_ptr<EmbeddedEnv> Close();

 private:
  struct Slot* slot_ = nullptr;
  EmbeddedEnv* env_ = nullptr;
};

}  // namespace backplane
