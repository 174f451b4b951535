// Layers in a low precision while it lives, on this thread.
#pragma once

#include <ATen/autocast_mode.h>

#include <optional>

namespace backplane::torch_common {

class Autocast {
 public:
  // Without `low`, layers keep the precision of their inputs.
  Autocast(at::DeviceType type, std::optional<at::ScalarType> low)
      : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type_, low.has_value());
    if (low) at::autocast::set_autocast_dtype(type_, *low);
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
