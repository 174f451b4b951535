// Writes the activity of a trial's threads as a trace for Perfetto and chrome://tracing.
#include <set>
#include <string_view>

#include "backplane/monitor.hpp"
#include "trace_file.hpp"

namespace backplane::trace {

constexpr uint32_t kIterations = 1, kFirstThread = 2;  // tracks

class Trace : public bp::MonitorPlugin<Trace> {
 public:
  static constexpr bp::About kAbout{.id = "monitor.trace", .version = "1.0.0", .summary = "Trace of each thread, for Perfetto"};
  struct Options {
    int64_t iterations = 3;
    size_t max_events = 200000;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("iterations", &Options::iterations, "[0,)", "Iterations with traced phases, from the start of the attempt"),
      bp::Opt("max_events", &Options::max_events, "[100,)",
              "Maximum spans and counters, at about 60 bytes each in memory and 110 in the file; phases get half of them"),
  };

  explicit Trace(const bp::MonitorSetup& setup)
      : MonitorPlugin(setup),
        options_(kOptions.Read(setup.config)),
        iterations_left_(options_.iterations),
        file_(TrialName(setup.host)) {
    file_.NameTrack(kIterations, "iterations");
  }

  bp::IterationParts Wants() const override { return {.phases = iterations_left_ > 0}; }

  void OnIteration(const bp::Iteration& iteration) override {
    AddPhases(iteration);
    if (iteration.ended) AddIteration(iteration);
    for (const bp::IterationMetric& metric : iteration.metrics) {
      // Only names with a slash: the others ("sps", "iteration_s") duplicate the iterations' track.
      if (metric.of_machine && metric.name.find('/') != std::string_view::npos && HasRoom(options_.max_events))
        file_.AddCounter(metric.name, iteration.end_ns, metric.value);
    }
  }

  void Finish(const std::string& out_dir) override {
    if (left_out_ > 0) {
      const std::string sentence = "trace.json is full (max_events): " + std::to_string(left_out_) + " events were left out";
      host()->log(host(), BP_LOG_WARN, sentence.c_str());
    }
    file_.Write(out_dir + "/trace.json");
  }

 private:
  static std::string TrialName(const bp_host* host) {
    const auto* trial = static_cast<const bp_host_trial_1*>(host->get_extension(host, BP_HOST_TRIAL_1));
    return trial == nullptr ? "trial" : std::string("trial ") + trial->trial_id;
  }

  bool HasRoom(size_t limit) {
    if (file_.size() < limit) return true;
    ++left_out_;
    return false;
  }

  // Also for an iteration that was interrupted.
  void AddPhases(const bp::Iteration& iteration) {
    if (iterations_left_ == 0) return;
    if (iteration.ended) --iterations_left_;
    left_out_ += iteration.left_out;
    for (const bp::IterationPhase& phase : iteration.phases) AddPhase(phase);
  }

  void AddIteration(const bp::Iteration& iteration) {
    const int64_t begin_ns = iteration.end_ns - iteration.duration_ns;
    if (HasRoom(options_.max_events))
      file_.AddSpan(kIterations, "iteration", begin_ns, iteration.duration_ns, "iteration", iteration.number);
    if (HasRoom(options_.max_events)) file_.AddCounter("SPS", iteration.end_ns, iteration.sps);
  }

  void AddPhase(const bp::IterationPhase& phase) {
    if (!HasRoom(options_.max_events / 2)) return;
    const uint32_t track = kFirstThread + phase.thread;
    if (named_.insert(track).second)
      file_.NameTrack(track, phase.thread == 0 ? "control thread" : "thread " + std::to_string(phase.thread));
    const bool merged = phase.spans > 1;
    file_.AddSpan(track, phase.name, phase.begin_ns, phase.duration_ns, merged ? "merged_spans" : nullptr, phase.spans);
  }

  const Options options_;
  int64_t iterations_left_;
  uint64_t left_out_ = 0;
  std::set<uint32_t> named_;
  TraceFile file_;
};

}  // namespace backplane::trace

using backplane::trace::Trace;
BP_PLUGINS(Trace);
