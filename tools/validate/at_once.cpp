#include "validate/at_once.hpp"

#include <atomic>
#include <exception>
#include <thread>

namespace backplane {

void AtOnce(const std::function<void()>& here, const std::function<void()>& there) {
  std::atomic<int> ready{0};
  std::exception_ptr thrown_here, thrown_there;
  const auto run = [&ready](const std::function<void()>& call, std::exception_ptr* thrown) {
    ++ready;
    while (ready < 2) std::this_thread::yield();  // a sleeping thread would start late
    try {
      call();
    } catch (...) {
      *thrown = std::current_exception();
    }
  };
  std::thread other([&] { run(there, &thrown_there); });
  run(here, &thrown_here);
  other.join();
  for (const std::exception_ptr& thrown : {thrown_here, thrown_there})
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace backplane
