// Collects the data of an iteration on the learner's request: rollouts, episodes of candidates or a group of a data set. Each
// kind keeps its own state and records its own metrics.
#pragma once

#include <optional>
#include <string>

#include "trial/checkpoint.hpp"
#include "trial/loop_parts.hpp"

namespace backplane {

class Collecting {
 public:
  virtual ~Collecting() = default;

  // Throws TrialFailure if the trial cannot serve the request.
  virtual void Check(const bp_request& request) const = 0;
  // Prepares an evaluation that runs before the request is served.
  virtual void Prepare(const bp_request&) {}
  // Serves a checked request, lets the learner consume the result, and counts its steps. False if cancelled or out of time; the
  // iteration is then void. Throws TrialFailure.
  virtual bool Collect(const bp_request& request) = 0;

  // True if it binds the env's rows to its own buffers, from Collect until ReleaseEnv.
  virtual bool BindsEnv() const { return false; }
  virtual void ReleaseEnv() {}
  // A sentence about the first non-finite observation since the start of the last Collect.
  virtual std::optional<std::string> NonFiniteObservation() const { return std::nullopt; }

  virtual void Save(Checkpoint*) {}
  virtual void Load(const Checkpoint&) {}  // throws TrialFailure and CheckpointError
};

// Throws TrialFailure if the budget can never end a trial whose learner plays: "collects rollouts".
void CheckBudgetEnds(const LoopParts& parts, const char* what_it_does);

// The learner consumes the delivery. A learner notices a NaN of the env late, as a loss or a gradient, and can only blame
// itself. The last collector therefore names the source first.
void Deliver(const bp_delivery& delivery, const LoopParts& parts, const Collecting& collected);

}  // namespace backplane
