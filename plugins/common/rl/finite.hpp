// Checks for numbers that are not finite, including the host's moments.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "backplane/learner.hpp"

namespace backplane::rl {

// Throws bp::Error (BP_E_NUMERIC): "the <what> is infinite; <hint>".
inline void NeedFinite(const std::string& what, double value, const std::string& hint) {
  if (std::isfinite(value)) return;
  throw bp::Error(BP_E_NUMERIC, "the " + what + " is " + (std::isnan(value) ? "not a number" : "infinite") + "; " + hint);
}

// Moments of the observations of a delivery (BP_LEARNER_OBS_MOMENTS), valid as long as the delivery: count, means and sums of
// squared deviations.
struct ObsMoments {
  double count;
  const double *mean, *m2;
};
// Throws bp::Error if one is not finite: clipping would hide such an observation, but the statistics would keep it. `where`
// ends the sentence: "in the rollout".
inline void NeedFiniteMoments(const ObsMoments& moments, int64_t size, const std::string& channel, const char* where) {
  for (int64_t i = 0; i < size; ++i) {
    if (std::isfinite(moments.mean[i]) && std::isfinite(moments.m2[i])) continue;
    throw bp::Error(BP_E_NUMERIC, "normalize_obs: expected finite observations, but number " + std::to_string(i) +
                                      " of channel '" + channel + "' was infinite or not a number " + where);
  }
}
inline ObsMoments FiniteMoments(const bp::Delivery& delivery, int64_t size, const std::string& channel, const char* where) {
  const ObsMoments moments{*delivery.Get<double>("obs_count").At(0), delivery.Get<double>("obs_mean").At(0),
                           delivery.Get<double>("obs_m2").At(0)};
  NeedFiniteMoments(moments, size, channel, where);
  return moments;
}

}  // namespace backplane::rl
