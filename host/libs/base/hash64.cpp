#include "base/hash64.hpp"

#define XXH_INLINE_ALL  // header-only
#include <xxhash.h>

namespace backplane {

struct Hash64::State {
  XXH3_state_t xxh3;
};

Hash64::Hash64() : state_(new State) { XXH3_64bits_reset(&state_->xxh3); }

Hash64::~Hash64() = default;

void Hash64::Add(const void* data, size_t size) { XXH3_64bits_update(&state_->xxh3, data, size); }

uint64_t Hash64::Value() const { return XXH3_64bits_digest(&state_->xxh3); }

uint64_t Hash64Of(const void* data, size_t size) { return XXH3_64bits(data, size); }

}  // namespace backplane
