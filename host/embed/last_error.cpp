#include "embed/last_error.hpp"

#include <exception>
#include <new>
#include <utility>

#include "base/error_words.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

// In memory that every thread has from its start. Other thread-local memory is allocated at first use, which a signal handler
// must not do.
[[gnu::tls_model("initial-exec")]] constinit thread_local const char* tls_error = "";
[[gnu::tls_model("initial-exec")]] constinit thread_local const char* tls_unknown_options = "[]";

std::string& OwnText() {
  static thread_local std::string text;
  return text;
}

}  // namespace

bp_status SayError(bp_status status, const char* constant) noexcept {
  tls_error = constant;
  return status;
}

bp_status SayError(bp_status status, const std::string& text) noexcept {
  try {
    OwnText() = text;
    tls_error = OwnText().c_str();
  } catch (...) {
    tls_error = "out of memory, even for the error text";
  }
  return status;
}

void ForgetError() noexcept { tls_error = "", tls_unknown_options = "[]"; }

const char* LastError() noexcept { return tls_error; }

const char* UnknownOptions() noexcept { return tls_unknown_options; }

const char* LendText(std::string text) {
  static thread_local std::string lent;
  lent = std::move(text);
  return lent.c_str();
}

bp_status StatusOfException() noexcept {
  try {
    throw;
  } catch (const UnknownOptionsError& e) {
    static thread_local std::string names;
    names = e.names();
    tls_unknown_options = names.c_str();
    return SayError(e.status(), std::string(e.what()));
  } catch (const TrialFailure& e) {
    return SayError(e.status(), std::string(e.what()));
  } catch (const PluginError& e) {
    return SayError(BP_E_UNSUPPORTED, std::string(e.what()));
  } catch (const std::bad_alloc&) {
    return SayError(BP_E_OOM_HOST, "out of memory");
  } catch (const std::exception& e) {
    return SayError(BP_E_INTERNAL, WordsOf(e));
  } catch (...) {
    return SayError(BP_E_INTERNAL, "caught an exception that is not a std::exception");
  }
}

}  // namespace backplane
