#include "cli/damage_text.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "log/log.hpp"

namespace backplane {
namespace {

constexpr size_t kShownFiles = 40;

}  // namespace

bool SayDamage(const std::vector<Damage>& all) {
  std::vector<Damage> damage;
  for (const Damage& one : all) {
    if (!one.trial_id.empty()) {
      damage.push_back(one);
      continue;
    }
    LogError("backplane: {}\nhint: repeat the `run` command; it writes the record again and keeps the finished trials",
             SentenceOf(one));
  }
  if (damage.empty()) return !all.empty();
  std::set<std::string> trials;
  for (const Damage& one : damage) trials.insert(one.trial_id);
  LogError("backplane: {} finished {} damaged\nhint: `backplane run FILE --only-damaged` runs {} again", trials.size(),
           trials.size() == 1 ? "trial is" : "trials are", trials.size() == 1 ? "it" : "them");
  for (size_t i = 0; i < std::min(damage.size(), kShownFiles); ++i) LogError("  {}", SentenceOf(damage[i]));
  if (damage.size() > kShownFiles) LogError("  and {} more files", damage.size() - kShownFiles);
  return true;
}

}  // namespace backplane
