#include "cli/damage_text.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

namespace backplane {
namespace {

constexpr size_t kShownFiles = 40;

}  // namespace

bool SayDamage(const std::vector<Damage>& damage) {
  if (damage.empty()) return false;
  std::set<std::string> trials;
  for (const Damage& one : damage) trials.insert(one.trial_id);
  std::fprintf(stderr, "backplane: %zu finished %s damaged; `backplane run FILE --only-damaged` runs %s again\n", trials.size(),
               trials.size() == 1 ? "trial is" : "trials are", trials.size() == 1 ? "it" : "them");
  for (size_t i = 0; i < std::min(damage.size(), kShownFiles); ++i)
    std::fprintf(stderr, "  %s\n", SentenceOf(damage[i]).c_str());
  if (damage.size() > kShownFiles) std::fprintf(stderr, "  and %zu more files\n", damage.size() - kShownFiles);
  return true;
}

}  // namespace backplane
