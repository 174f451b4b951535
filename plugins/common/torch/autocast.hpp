// Layers in bfloat16 while it lives, on this thread.
#pragma once

#include <ATen/autocast_mode.h>

namespace backplane::torch_common {

class Autocast {
 public:
  Autocast(at::DeviceType type, bool on) : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type_, on);
    if (on) at::autocast::set_autocast_dtype(type_, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, before_);
  }
  Autocast(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool before_;
};

}  // namespace backplane::torch_common
