#include "record/gpu_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/format_count.hpp"

namespace backplane {
namespace {

constexpr double kBytesPerGiB = 1024.0 * 1024.0 * 1024.0;
constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
// 256 rows for the 6 GiB of an RTX 3060 Laptop, which is 1,024 to 4,096 for an A100 with 40 or 80 GiB.
constexpr double kRowsPerGiB = 43;

// Per multiprocessor and clock, from the tuning guides and architecture papers of NVIDIA. GeForce boards of the marked ones
// have half the rate in products with float32 sums.
struct Capability {
  int major, minor;
  unsigned cores, f64_flop, tf32_flop, half_flop;  // 0: no tensor cores for it
  bool geforce_halves;
};
constexpr Capability kCapabilities[] = {
    {7, 0, 64, 64, 0, 1024, false},       {7, 5, 64, 4, 0, 1024, true},     {8, 0, 64, 64, 1024, 2048, false},
    {8, 6, 128, 4, 512, 1024, true},      {8, 9, 128, 4, 512, 1024, true},  {9, 0, 128, 128, 2048, 4096, false},
    {10, 0, 128, 128, 4096, 8192, false}, {12, 0, 128, 4, 512, 1024, true},
};

// Absent: the library lacks the function, or the device its answer.
template <class Call, class... Arguments>
std::optional<unsigned> AskNumber(Call call, Arguments... arguments) {
  unsigned number = 0;
  if (call == nullptr || call(arguments..., &number) != nvml::kSuccess || number == 0) return std::nullopt;
  return number;
}

void AddPeaks(const Capability& known, GpuFigures* figures) {
  figures->is_known = true;
  if (!figures->cores) return;
  figures->multiprocessors = *figures->cores / known.cores;
  if (!figures->clock_mhz) return;
  const double clocks = 1e6 * *figures->clock_mhz * *figures->multiprocessors;
  const double tensor = known.geforce_halves && figures->name.find("GeForce") != std::string::npos ? clocks / 2 : clocks;
  figures->f64 = clocks * known.f64_flop;
  if (known.tf32_flop > 0) figures->tf32 = tensor * known.tf32_flop;
  figures->half = tensor * known.half_flop;
}

GpuFigures ReadFigures(const Gpu& gpu, const nvml::Calls& calls) {
  GpuFigures figures{.name = gpu.name, .memory_bytes = gpu.memory_bytes};
  figures.rows_most =
      std::bit_ceil(std::max<uint64_t>(static_cast<uint64_t>(kRowsPerGiB * gpu.memory_bytes / kBytesPerGiB), 2));
  figures.rows_least = figures.rows_most / 2;
  nvml::Device device = nullptr;
  if (!calls.by_index || calls.by_index(gpu.index, &device) != nvml::kSuccess) return figures;
  figures.cores = AskNumber(calls.cores, device);
  figures.clock_mhz = AskNumber(calls.highest_clock, device, kSmClock);
  const auto memory_mhz = AskNumber(calls.highest_clock, device, kMemoryClock);
  const auto bus_bits = AskNumber(calls.bus_width, device);
  if (memory_mhz && bus_bits) figures.bytes_per_s = 2e6 * *memory_mhz * *bus_bits / 8;  // both edges of the clock
  if (figures.cores && figures.clock_mhz) figures.f32 = 2e6 * *figures.cores * *figures.clock_mhz;
  int major = 0, minor = 0;
  if (!calls.capability || calls.capability(device, &major, &minor) != nvml::kSuccess) return figures;
  figures.capability = fmt::format("{}.{}", major, minor);
  const auto known =
      std::ranges::find_if(kCapabilities, [&](const Capability& c) { return c.major == major && c.minor == minor; });
  if (known != std::end(kCapabilities)) AddPeaks(*known, &figures);
  return figures;
}

}  // namespace

std::vector<GpuFigures> FiguresOf(const std::vector<Gpu>& gpus, const nvml::Library& library) {
  std::vector<GpuFigures> figures;
  for (const Gpu& gpu : gpus) figures.push_back(ReadFigures(gpu, library.calls()));
  return figures;
}

std::vector<GpuFigures> FiguresOf(const std::vector<Gpu>& gpus) {
  if (gpus.empty()) return {};
  return FiguresOf(gpus, nvml::Library());
}

std::string Sentence(const GpuFigures& figures) {
  std::vector<std::string> parts, peaks;
  const auto add_peak = [&](const std::optional<double>& flops, const char* type) {
    if (flops) peaks.push_back(fmt::format("{:.3g} {}", *flops / 1e12, type));
  };
  if (figures.capability)
    parts.push_back(fmt::format("compute capability {}{}", *figures.capability,
                                figures.is_known ? "" : ", whose tensor cores are unknown here"));
  if (figures.cores) parts.push_back(FormatCount(*figures.cores) + " cores");
  if (figures.bytes_per_s) parts.push_back(FormatCount(static_cast<uint64_t>(*figures.bytes_per_s / 1e9)) + " GB/s");
  add_peak(figures.f64, "float64");
  add_peak(figures.f32, "float32");
  add_peak(figures.tf32, "tf32");
  add_peak(figures.half, "float16 and bfloat16");
  if (!peaks.empty())
    parts.push_back(fmt::format("at {} MHz at most, TFLOP/s: {}", FormatCount(*figures.clock_mhz), fmt::join(peaks, ", ")));
  parts.push_back(fmt::format("rows of a vector env to try first: {} to {}", FormatCount(figures.rows_least),
                              FormatCount(figures.rows_most)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace backplane
