// 64-bit XXH3 (github.com/Cyan4973/xxHash) at memory speed. It does not protect against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace backplane {

// A streaming hash; the partition into pieces does not affect the value.
class Hash64 {
 public:
  Hash64();
  ~Hash64();
  void Add(const void* data, size_t size);
  uint64_t Value() const;  // of all bytes added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

uint64_t Hash64Of(const void* data, size_t size);

}  // namespace backplane
