// Reads and writes a state. Part of learner.hpp and env.hpp, which authors include.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "backplane/ext/policy.h"
#include "backplane/ext/state.h"
#include "backplane/plugin.hpp"

namespace bp {

// Byte streams of the host, for numbers and vectors of numbers.
class Writer {
 public:
  explicit Writer(const bp_writer* raw) : raw_(raw) {}
  void Bytes(const void* data, uint64_t n) const {
    if (n > 0 && raw_->write(raw_, data, n) != BP_OK) throw Error(BP_E_IO, "could not write the state");
  }
  template <class T>
  void Put(const T& value) const {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>, "padding is not deterministic");
    Bytes(&value, sizeof value);
  }
  template <class T>
  void PutAll(const T* values, uint64_t n) const {
    Put(n);
    Bytes(values, n * sizeof(T));
  }

 private:
  const bp_writer* raw_;
};

class Reader {
 public:
  explicit Reader(const bp_reader* raw) : raw_(raw) {}
  void Bytes(void* out, uint64_t n) const {
    if (n > 0 && raw_->read(raw_, out, n) != BP_OK) throw Error(BP_E_IO, "the saved state is cut short");
  }
  template <class T>
  T Get() const {
    T value;
    Bytes(&value, sizeof value);
    return value;
  }
  // Rejects a number other than `n`; the error names `what`.
  template <class T>
  void GetAll(T* out, uint64_t n, const char* what) const {
    Expect(n, what);
    Bytes(out, n * sizeof(T));
  }
  void Expect(uint64_t wanted, const char* what) const {
    const auto found = Get<uint64_t>();
    if (found != wanted) {
      throw Error(BP_E_INVALID_ARG, std::string("the saved state has a different shape: ") + what + ": expected " +
                                        std::to_string(wanted) + ", got " + std::to_string(found));
    }
  }

 private:
  const bp_reader* raw_;
};

}  // namespace bp
