#include "trial/tick_table.hpp"

#include <algorithm>

#include "base/bounded.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxPhaseBytes = 64;
constexpr char kOther[] = "other";

}  // namespace

void NoteLongTick(const std::string& phase, double seconds, std::vector<LongTicks>* table) {
  const auto entry_of = [table](const std::string& name) {
    return std::find_if(table->begin(), table->end(), [&](const LongTicks& one) { return one.phase == name; });
  };
  std::string name = Bounded(phase, kMaxPhaseBytes);
  if (entry_of(name) == table->end() && table->size() >= kMaxTickPhases) name = kOther;
  auto entry = entry_of(name);
  if (entry == table->end()) entry = table->insert(entry, LongTicks{name});
  ++entry->count;
  entry->seconds += seconds;
  entry->longest_s = std::max(entry->longest_s, seconds);
}

}  // namespace backplane
