// What an iteration begins with: rollouts, episodes of candidates or a group of a data set, whatever the learner asks for. Each
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
  // What an evaluation needs to know that comes before the request is served.
  virtual void Prepare(const bp_request&) {}
  // Serves a checked request, lets the learner consume the result, and counts its steps. False if cancelled or out of time:
  // the iteration is then void. Throws TrialFailure.
  virtual bool Collect(const bp_request& request) = 0;

  // Whether it binds the env's rows to buffers of its own, from Collect until ReleaseEnv.
  virtual bool BindsEnv() const { return false; }
  virtual void ReleaseEnv() {}
  // The first observation that was not finite since the last Collect began, as a sentence.
  virtual std::optional<std::string> NonFiniteObservation() const { return std::nullopt; }

  virtual void Save(Checkpoint*) {}
  virtual void Load(const Checkpoint&) {}  // throws TrialFailure and CheckpointError
};

// Throws TrialFailure if the budget can never end a trial whose learner plays: "collects rollouts".
void CheckBudgetEnds(const LoopParts& parts, const char* what_it_does);

// The learner consumes it. A learner meets a NaN of the env late, as a loss or a gradient, and can only blame itself: the
// source is named before it, by who has collected last.
void Deliver(const bp_delivery& delivery, const LoopParts& parts, const Collecting& collected);

}  // namespace backplane
