// Errors of plugins: exceptions, which Guard converts to a status with a message. Part of plugin.hpp, which authors include.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "backplane/host.h"

namespace bp {

// Thrown inside a plugin; becomes a status with a message at the boundary.
class Error : public std::runtime_error {
 public:
  Error(bp_status code, const std::string& text) : std::runtime_error(text), code_(code) {}
  bp_status code() const { return code_; }

 private:
  bp_status code_;
};

inline Error ConfigError(const std::string& text) { return Error(BP_E_CONFIG, text); }
inline Error Unsupported(const std::string& text) { return Error(BP_E_UNSUPPORTED, text); }

// Runs `body` and converts any exception to a status with a message: the only place that catches exceptions.
template <class Body>
bp_status Guard(const bp_host* host, Body&& body) noexcept {
  try {
    body();
    return BP_OK;
  } catch (const Error& e) {
    return host->fail(host, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return host->fail(host, BP_E_OOM_HOST, "out of memory");
  } catch (const std::exception& e) {
    return host->fail(host, BP_E_INTERNAL, e.what());
  } catch (...) {
    return host->fail(host, BP_E_INTERNAL, "threw something that is not a std::exception");
  }
}

}  // namespace bp
