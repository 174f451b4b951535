#include "batch/disk_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell_argument.hpp"
#include "record/disk_use.hpp"

namespace backplane {

std::optional<std::string> DiskLimit::Exceeded() {
  constexpr auto kEvery = std::chrono::milliseconds(500);
  constexpr int kShare = 100;
  const Clock::time_point begin = Clock::now();
  if (!limit_ || begin < next_) return std::nullopt;
  const uint64_t used = DiskUseOf(out_).bytes;
  const Clock::time_point end = Clock::now();
  next_ = end + std::max<Clock::duration>(kEvery, kShare * (end - begin));
  if (used <= *limit_) return std::nullopt;
  return fmt::format("the folder uses {}, more than output.max_disk ({}); `backplane gc {} --keep last` frees space",
                     SizeText(used), SizeText(*limit_), ShellArgument(out_.string()));
}

}  // namespace backplane
