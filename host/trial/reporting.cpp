#include "trial/reporting.hpp"

#include <algorithm>

#include "base/json_text.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {
constexpr size_t kSpansPerThread = 1 << 15;  // 1 MiB; an iteration of ten seconds and more
}

PhaseEvents::PhaseEvents(std::vector<PhaseClock>& clocks, MonitorHost& monitors) : clocks_(clocks), monitors_(monitors) {
  if (monitors_.Wants(BP_EVENT_PHASE)) Attach();
}

PhaseEvents::~PhaseEvents() { Detach(); }

void PhaseEvents::Attach() {
  // The monitors' queue has room for one hand-over of full buffers.
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

namespace {

bp_event EventOf(uint32_t type, const Iteration& line) {
  bp_event event{};
  event.type = type;
  event.iteration = line.iteration.value_or(0);
  event.env_steps = line.step.value_or(0);
  return event;
}

// A plugin may name a metric in any encoding, but the monitors' files must stay readable.
std::string Utf8(const std::string& text) { return nlohmann::json::parse(JsonText(nlohmann::json(text))); }

void AddMetrics(const MonitorHost& monitors, const Iteration& line, std::vector<MonitorHost::NamedEvent>* events) {
  if (!monitors.Wants(BP_EVENT_METRIC)) return;
  for (const MetricValue& one : MetricSeries(line)) {
    if (one.of == MetricValue::Of::kAxis) continue;
    bp_event event = EventOf(BP_EVENT_METRIC, line);
    event.instance = one.of == MetricValue::Of::kMachine ? BP_METRIC_MACHINE : BP_METRIC_EXPERIMENT;
    event.value = one.value;
    events->push_back({event, Utf8(one.name)});
  }
}

}  // namespace

void PostIteration(MonitorHost& monitors, const Iteration& line, int64_t end_ns, int64_t duration_ns) {
  std::vector<MonitorHost::NamedEvent> events;
  if (monitors.Wants(BP_EVENT_ITER)) {
    bp_event event = EventOf(BP_EVENT_ITER, line);
    event.t_ns = end_ns;
    event.duration_ns = duration_ns;
    event.value = line.time.sps.value_or(0);
    events.push_back({event, "iteration"});
  }
  AddMetrics(monitors, line, &events);
  monitors.PostTogether(events);
}

void PostMetrics(MonitorHost& monitors, const Iteration& line) {
  std::vector<MonitorHost::NamedEvent> events;
  AddMetrics(monitors, line, &events);
  monitors.PostTogether(events);
}

Reporting::Reporting(const LoopParts& parts, LoopState& state, WarningList& warnings)
    : parts_(parts), state_(state), live_(parts, warnings), phase_events_(parts.threads.clocks(), parts.monitors) {}

void Reporting::ReportIteration(const Iteration& line, double progress, const CollectData& data) {
  StatusFile& status = parts_.status.data();
  status.iteration = state_.count.iterations;
  status.env_steps = state_.count.env_steps;
  status.episodes = state_.window.total();
  status.progress = progress;
  status.sps = line.time.sps.value_or(0);
  status.episode_return = state_.window.mean_return();
  live_.Show(line);
  live_.WarnOnceOfUnknown(line, data);
  HandOverPhases();
  PostIteration(parts_.monitors, line, state_.iteration.end_ns, state_.iteration.duration_ns());
}

void Reporting::ReportMetrics(const Iteration& line) {
  live_.Show(line);
  PostMetrics(parts_.monitors, line);
}

}  // namespace backplane
