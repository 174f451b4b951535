// A process without free file descriptors, as after a leak: every open fails with EMFILE.
// Exceptions are inspected after the descriptors are free again, because sanitizers need some to read an object's type.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <string>

namespace backplane {

class FewDescriptors {
 public:
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest that is free
    close(next);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// The message that `call` throws; empty if none.
std::string SentenceWithoutDescriptors(const auto& call) {
  try {
    const FewDescriptors none_left;
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace backplane
