// How busy the multiprocessors of a GPU were, by its performance counters (GPM, Hopper and newer). The driver's utilisation
// only says that some kernel ran.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "machine/nvml.hpp"

namespace backplane {

class Gpm {
 public:
  // `calls` outlives it. Does nothing on a device without such counters.
  Gpm(const nvml::Calls& calls, nvml::Device device);
  ~Gpm();
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  // Between the last reading and this one; they must lie more than 0.1 s apart. Percent.
  std::optional<double> SmUtilPct(int64_t t_ns);

 private:
  bool Supported() const;

  const nvml::Calls& calls_;
  nvml::Device device_;
  nvml::GpmSample before_ = nullptr, now_ = nullptr;
  nvml::Question sample_, metrics_;
  std::optional<int64_t> before_ns_;
  std::unique_ptr<nvml::GpmRequest> request_;
};

}  // namespace backplane
