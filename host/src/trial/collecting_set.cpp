#include "trial/collecting_set.hpp"

#include <utility>

namespace backplane {

Collecting& CollectingSet::Of(const bp_request& request) {
  switch (request.kind) {
    case BP_REQ_ROLLOUT: return rollouts_;
    case BP_REQ_EVALUATE: return candidates_;
    default: return data_;
  }
}

bool CollectingSet::Collect(const bp_request& request) {
  Collecting& next = Of(request);
  if (next.BindsEnv() && bound_ != &next) std::exchange(bound_, &next)->ReleaseEnv();
  return next.Collect(request);
}

}  // namespace backplane
