// XXH3 in 64 bits (github.com/Cyan4973/xxHash): of bytes that nobody forges, as fast as memory is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace backplane {

// Of bytes that come in pieces: however they are cut, the hash is that of the whole.
class Hash64 {
 public:
  Hash64();
  ~Hash64();
  void Add(const void* data, size_t size);
  uint64_t Value() const;  // of all that was added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

uint64_t Hash64Of(const void* data, size_t size);

}  // namespace backplane
