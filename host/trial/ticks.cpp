#include "trial/ticks.hpp"

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

namespace {

constexpr int64_t kLongTickNs = 1'000'000'000;

}  // namespace

void Ticks::Run(const bp_request& request) {
  const char* phase = request.u.tick.phase ? request.u.tick.phase : "";
  checkpointing_.NoteTick();
  parts_.status.SetPhase(phase);
  parts_.status.Beat();
  const PhaseSpan span(parts_.clock(), PhaseFromName(phase));
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = BP_REQ_TICK;
  delivery.env_steps = state_.count.env_steps;
  const int64_t start_ns = NowNs();
  Deliver(delivery, parts_, collecting_.bound());
  if (const int64_t duration_ns = NowNs() - start_ns; duration_ns > kLongTickNs)
    NoteLongTick(phase, static_cast<double>(duration_ns) * 1e-9, &long_ticks_);
  if (!state_.iteration.open) RestoreState(parts_.learner.id());  // otherwise once, at the iteration's end
}

bool Ticks::EndTrial(bool cancelled) {
  const std::optional<double>& limit_s = parts_.spec.experiment.budget.wall_time_s;
  const auto spent_s = [this] { return state_.count.SpentOfBudget(state_.clock.trial_s(), 0).seconds; };
  if (!cancelled && !(limit_s && spent_s() >= *limit_s)) return false;
  const int64_t now = NowNs();
  if (should_end_since_ns_ == 0) should_end_since_ns_ = now;
  const double patience_s = cancelled ? kStopPatience_s : PatienceAfter(*limit_s);
  const bool patient = static_cast<double>(now - should_end_since_ns_) * 1e-9 < patience_s;
  if (state_.iteration.open && (!checkpointing_.may_drop(cancelled) || patient)) return false;
  if (state_.iteration.open) {
    state_.iteration.open = false;
    state_.count.env_steps -= state_.iteration.steps;
  } else {
    checkpointing_.Take();
  }
  return true;
}

}  // namespace backplane
