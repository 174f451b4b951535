#include "trial/phase_events.hpp"

#include <algorithm>

namespace backplane {
namespace {
constexpr size_t kSpansPerThread = 1 << 15;  // 1 MiB; an iteration of ten seconds and more
}

PhaseEvents::PhaseEvents(std::vector<PhaseClock>& clocks, MonitorHost& monitors) : clocks_(clocks), monitors_(monitors) {
  if (monitors_.Wants(BP_EVENT_PHASE)) Attach();
}

PhaseEvents::~PhaseEvents() { Detach(); }

void PhaseEvents::Attach() {
  // One hand-over of full buffers always finds room with the monitors.
  const size_t capacity = std::min(kSpansPerThread, MonitorHost::kSpanLimit / clocks_.size());
  for (PhaseClock& clock : clocks_) {
    traces_.push_back(std::make_unique<PhaseTrace>(capacity));
    clock.TraceInto(traces_.back().get());
  }
}

void PhaseEvents::Detach() {
  if (traces_.empty()) return;
  for (PhaseClock& clock : clocks_) clock.TraceInto(nullptr);
  traces_.clear();
}

void PhaseEvents::HandOver(uint64_t iteration, uint64_t env_steps) {
  if (traces_.empty()) {
    if (monitors_.Wants(BP_EVENT_PHASE)) Attach();
    return;
  }
  std::vector<bp_event> events;
  uint64_t dropped = 0;
  for (size_t thread = 0; thread < traces_.size(); ++thread) {
    PhaseTrace& trace = *traces_[thread];
    trace.EndBlock();
    for (const TracedSpan& span : trace.spans()) {
      bp_event event{};
      event.type = BP_EVENT_PHASE;
      event.t_ns = span.begin_ns + span.duration_ns;
      event.duration_ns = span.duration_ns;
      event.count = span.count;
      event.iteration = iteration;
      event.env_steps = env_steps;
      event.instance = static_cast<uint32_t>(thread);
      event.phase = static_cast<uint32_t>(span.phase);
      event.name = kPhaseNames[event.phase].data();
      events.push_back(event);
    }
    dropped += trace.dropped();
    trace.Clear();
  }
  monitors_.PostSpans(events, dropped);
  if (!monitors_.Wants(BP_EVENT_PHASE)) Detach();
}

}  // namespace backplane
