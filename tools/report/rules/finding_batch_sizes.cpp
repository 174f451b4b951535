#include "rules/finding_batch_sizes.hpp"

namespace backplane {
namespace {

constexpr const char *kMicro = "per_device_train_batch_size", *kParts = "gradient_accumulation_steps",
                     *kWhole = "effective_batch_size";

// The value that keeps `of` in proportion. Absent: it is no whole number.
std::optional<uint64_t> Scaled(uint64_t of, uint64_t factor, uint64_t divisor) {
  const uint64_t product = of * factor;
  return divisor > 0 && product > 0 && product % divisor == 0 ? std::optional(product / divisor) : std::nullopt;
}

}  // namespace

std::optional<BatchSizes> BatchSizesIn(const Case& c, const std::string& section) {
  BatchSizes sizes{section + kMicro, section + kParts, section + kWhole};
  if (c.At(sizes.micro_path).is_null() || c.At(sizes.parts_path).is_null()) return std::nullopt;
  sizes.micro = c.Count(sizes.micro_path).value_or(0);
  sizes.parts = c.Count(sizes.parts_path).value_or(0);
  sizes.whole = c.Count(sizes.whole_path).value_or(0);
  return sizes;
}

bool FitBatchSizes(const Case& c, Fix* fix) {
  const size_t dot = fix->path.rfind('.') + 1;
  const std::string name = fix->path.substr(dot);
  if (name != kMicro && name != kParts) return true;
  const std::optional<BatchSizes> sizes = BatchSizesIn(c, fix->path.substr(0, dot));
  if (!sizes || !fix->from.is_number() || !fix->to.is_number()) return true;
  const uint64_t from = fix->from.get<uint64_t>(), to = fix->to.get<uint64_t>();
  const bool is_micro = name == kMicro;
  if (is_micro && (to == 0 || sizes->whole % to != 0)) return false;
  // With the third size at 0, it follows by itself.
  const std::string& other = is_micro ? sizes->parts_path : sizes->whole_path;
  const uint64_t value = is_micro ? sizes->parts : sizes->whole;
  if (value == 0) return true;
  const std::optional<uint64_t> changed = is_micro ? Scaled(value, from, to) : Scaled(value, to, from);
  if (!changed || c.Sweeps(other)) return false;
  fix->also = {{other, *changed}};
  return true;
}

}  // namespace backplane
