// The multi-UAV grid with all its rows as tensors of LibTorch, on the CPU or on a GPU. It resets itself.
#pragma once

#include <memory>

#include "backplane/env.hpp"
#include "uav/rules.hpp"

namespace backplane::uav_grid_tensor {

enum class Device { kCpu, kCuda };
constexpr auto WordsOf(Device) { return bp::Words<Device>({{"cpu", Device::kCpu}, {"cuda", Device::kCuda}}); }
enum class RunAhead { kAlways, kNever };
constexpr auto WordsOf(RunAhead) { return bp::Words<RunAhead>({{"always", RunAhead::kAlways}, {"never", RunAhead::kNever}}); }

struct Options : uav::Options {
  void Check(const bp::Config& config) const;  // also for a device that is not there

  Device device = Device::kCpu;
  std::optional<RunAhead> run_ahead;
};
inline constexpr bp::OptionTable kOptions{
    uav::kOptions,
    bp::Opt("device", &Options::device, "Device of all rows and channels; cuda needs a GPU and a LibTorch with CUDA"),
    bp::Opt("run_ahead", &Options::run_ahead,
            "always: no step waits for a number from the device, at the cost of more work; auto: on a GPU"),
};

class TensorGrid {
 public:
  static constexpr bp::About kAbout{
      .id = "env.uav_grid_tensor",
      .version = "1.0.0",
      .summary = "The multi-UAV grid, all rows as tensors on the CPU or a GPU; step for step equal to env.uav_grid.",
      .flags = BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT,
      .rows = 32};
  static constexpr auto& kOptions = uav_grid_tensor::kOptions;
  static constexpr bool kRowsConcurrent = false;

  TensorGrid(const Options& options, uint64_t rows);
  ~TensorGrid();
  bp::EnvSpec Spec() const;
  // Throw bp::Error (BP_E_CONFIG) if a seed has no solvable map, possibly some episodes ahead of its use.
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  void NextSeeds(uint64_t per_row, const uint64_t* seeds);
  // Steps all rows. An action outside 0 .. 8 of an active UAV counts as 0 and causes an error (BP_E_INVALID_ARG) some steps
  // later.
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end);

  // ext/memory.h
  void* Allocate(uint64_t bytes);
  void Release(void* device);
  void ToHost(void* host, const void* device, uint64_t bytes);
  void ToDevice(void* device, const void* host, uint64_t bytes);
  void Copy(void* to, const void* from, uint64_t bytes);
  void Gather(void* to, const void* from, uint64_t bytes_each, uint64_t n, const int64_t* indices);

 private:
  struct Tensors;  // hides LibTorch's headers
  std::unique_ptr<Tensors> t_;
};

}  // namespace backplane::uav_grid_tensor
