#include "supervise/infeasible.hpp"

#include <set>

namespace backplane {

std::vector<Inferred> InferInfeasible(const Plan& plan, const Schedule& schedule) {
  std::vector<Inferred> inferred;
  std::set<size_t> known;
  for (size_t i = 0; i < plan.trials.size(); ++i) {
    if (schedule.state(i) != TrialState::kInfeasible) continue;
    for (const size_t other : schedule.NeedAsMuchAs(i)) {
      if (known.insert(other).second) inferred.push_back({other, i});
    }
  }
  return inferred;
}

}  // namespace backplane
