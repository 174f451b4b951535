#include "results/same_bits.hpp"

#include "record/compare_bits.hpp"

namespace backplane {

std::optional<bool> HaveSameBits(const std::vector<std::filesystem::path>& a, const std::vector<std::filesystem::path>& b) {
  if (a.size() != b.size() || a.empty()) return std::nullopt;
  for (size_t i = 0; i < a.size(); ++i) {
    const ComparedBits bits = CompareBits(RecordedBits(a[i]), RecordedBits(b[i]));
    if (bits.hashes == 0 && !bits.first_difference) return std::nullopt;
    if (!bits.equal() || bits.only_a + bits.only_b > 0) return false;
  }
  return true;
}

}  // namespace backplane
