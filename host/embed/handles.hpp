// The handles that callers hold: numbers instead of addresses, so that a closed one is recognized forever.
#pragma once

#include <memory>

#include "backplane/embed.h"

namespace backplane {

class EmbeddedEnv;
class EmbeddedPolicy;

// An object behind a handle.
struct Embedded {
  virtual ~Embedded() = default;
};

// Throws TrialFailure if there are too many.
bp_embed* NewHandle(std::unique_ptr<Embedded> object);

// Grants one call at a time access to a handle. Neither locks nor allocates, because a signal handler may call it.
class HandleUse {
 public:
  explicit HandleUse(const bp_embed* handle) noexcept;
  ~HandleUse();
  HandleUse(const HandleUse&) = delete;

  // NULL: it is unusable now, or of the other kind, and an error is set.
  EmbeddedEnv* env() const noexcept;
  EmbeddedPolicy* policy() const noexcept;
  // Invalidates the handle.
  std::unique_ptr<Embedded> Close();

 private:
  struct Slot* slot_ = nullptr;
  Embedded* object_ = nullptr;
};

}  // namespace backplane
