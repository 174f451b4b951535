// The figures of a GPU that bound its speed: the driver's own numbers, and a table of compute capabilities for what no driver
// reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/gpus.hpp"

namespace backplane {

// Absent: neither the driver nor the table has it.
struct GpuFigures {
  std::string name;
  uint64_t memory_bytes = 0;
  std::optional<std::string> capability;  // "8.0"
  bool is_known = false;                  // the table has this capability
  std::optional<unsigned> cores, multiprocessors, clock_mhz;
  std::optional<double> bytes_per_s;           // of its memory
  std::optional<double> f64, f32, tf32, half;  // FLOP/s at clock_mhz; tf32 and half (float16, bfloat16) with float32 sums
  uint64_t rows_least = 0, rows_most = 0;      // envs to try first, by memory
};

// In the order of `gpus`.
std::vector<GpuFigures> FiguresOf(const std::vector<Gpu>& gpus, const nvml::Library& library);
std::vector<GpuFigures> FiguresOf(const std::vector<Gpu>& gpus);

// "compute capability 8.0, 6,912 cores, 1,555 GB/s; ..."
std::string Sentence(const GpuFigures& figures);

}  // namespace backplane
