// Plugin classes with every hook that the SDK calls by name. They compile. Each -DWRONG_... makes one hook nearly right, which
// must be an error; CMakeLists.txt contains its message.
#include "backplane/data_learner.hpp"
#include "backplane/env.hpp"
#include "backplane/monitor.hpp"
#include "backplane/off_policy.hpp"

struct Row {
  static constexpr bp::About kAbout{"env.row", "1.0.0", "A row."};
  struct Model {
#ifdef WRONG_OPTION_CHECK
    void Check() {}
#endif
#ifdef WRONG_MODEL_KEY
    uint64_t Key(int) const { return 1; }
#endif
#ifdef WRONG_OPTION_TYPE
    float range = 1;
#else
    double range = 1;
#endif
#ifdef WRONG_ENUM_WITHOUT_WORDS
    enum class Mode { kFast } mode = Mode::kFast;
#else
    bool mode = true;
#endif
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("range", &Model::range, "(0,)", "How far."),
      bp::Opt("mode", &Model::mode, "How."),
  };
  static bp::EnvSpec Spec(const Model&) { return bp::EnvSpec().Obs(1).ActionBox(1, -1, 1); }
  void Reset(const Model&, bp::Rng&, float*) {}
  bp::StepResult Step(const Model&, bp::Rng&, const float*, float*, float*) { return {}; }
  static uint64_t StateBytes(const Model&) { return 0; }
#ifdef WRONG_ROW_SNAPSHOT
  void Save(const Model&, void*) {}
#else
  void Save(const Model&, void*) const {}
#endif
  void Load(const Model&, const void*) {}
#ifdef WRONG_ROW_PICTURE
  bp::PictureSize SizeOfPicture(const Model&) const { return {1, 1}; }
#else
  static bp::PictureSize SizeOfPicture(const Model&) { return {1, 1}; }
#endif
  void DrawFrame(const Model&, std::string*) const {}
#ifdef WRONG_ROW_LABELS
  std::vector<bp::Label> Labels(std::string_view) const { return {}; }
#else
  static std::vector<bp::Label> Labels(const Model&, std::string_view) { return {}; }
#endif
#ifdef WRONG_ROW_CLOCK
  double SecondsOfStep() const { return 1; }
#else
  static double SecondsOfStep(const Model&) { return 1; }
#endif
};
BP_PLUGINS(bp::Env<Row>);

struct Agents {
  static constexpr bp::About kAbout{"env.agents", "1.0.0", "A row of agents."};
  using Action = int32_t;
  static bp::EnvSpec Spec(const auto&) { return bp::EnvSpec().MaxAgents(2).AgentObs(1).AgentActionDiscrete(2); }
#ifdef WRONG_AGENTS_RESET
  void Reset(const auto&, bp::Rng&, float*) {}
#else
  void Reset(const auto&, bp::Rng&, const bp::RowView&) {}
#endif
#ifdef WRONG_AGENTS_STEP
  double Step(const auto&, bp::Rng&, const bp::RowStep<int32_t>&) { return 0; }
#elif defined(WRONG_AGENTS_ACTION)
  bool Step(const auto&, bp::Rng&, const bp::RowStep<float>&) { return false; }
#else
  bool Step(const auto&, bp::Rng&, const bp::RowStep<int32_t>&) { return false; }
#endif
};
const void* OfAgents() { return bp::MultiEnv<Agents>::Api(); }

struct Batch {
  static constexpr bp::About kAbout{"env.batch", "1.0.0", "A batch."};
#ifdef WRONG_BATCH_CONSTRUCTOR
  explicit Batch(const bp::Config&, uint64_t) {}
#else
  explicit Batch(uint64_t) {}
#endif
  bp::EnvSpec Spec() const { return {}; }
  void Reset(const bp::Slot&, uint64_t, uint64_t, const uint8_t*, const uint64_t*) {}
  void Step(const bp::Slot&, uint64_t, uint64_t) {}
  uint64_t StateBytes() const { return 0; }
  void Save(uint64_t, void*) const {}
#ifndef WRONG_BATCH_SNAPSHOT
  void Load(uint64_t, const void*) {}
#endif
#ifdef WRONG_STATE_KEY
  uint64_t StateKey() { return 1; }
#else
  uint64_t StateKey() const { return 1; }
#endif
#ifdef WRONG_NEXT_SEEDS
  void NextSeeds(const uint64_t*) {}
#else
  void NextSeeds(uint64_t, const uint64_t*) {}
#endif
  uint64_t Items() const { return 1; }
#ifdef WRONG_SOURCE
  void Read(uint64_t, uint64_t, const bp::Slot&) {}
#else
  void Read(uint64_t, uint64_t, uint64_t, const bp::Slot&) {}
#endif
#ifdef WRONG_MEMORY
  void* Allocate(uint64_t) { return nullptr; }
#endif
};
const void* OfBatch() { return bp::EnvBatch<Batch>::Api(); }

class OnRollouts : public bp::OnPolicy, public bp::LearnerPlugin<OnRollouts> {
 public:
  static constexpr bp::About kAbout{.id = "learner.on", .version = "1.0.0", .summary = "Learns."};
  using OnPolicy::OnPolicy;
  const bp_learner_spec* Spec() const override { return nullptr; }
  uint64_t Horizon() const override { return 1; }
  uint64_t OnRollout(const bp::Delivery&) override { return 0; }
  void Act(const bp_act&) override {}
#ifdef WRONG_ON_TICK
  void OnTick(int) {}
#else
  void OnTick(uint64_t) override {}
#endif
#ifdef WRONG_TENSORS
  void Tensors(bp::NamedTensors*) {}
#else
  void Tensors(bp::NamedTensors*) const {}
#endif
#ifdef WRONG_LEARNER_STATE
  void Save(const bp::Writer&) {}
#else
  void Save(const bp::Writer&) const {}
#endif
  void Load(const bp::Reader&) {}
};
const void* OfOnRollouts() { return OnRollouts::Api(); }

class OnData : public bp::DataLearner, public bp::LearnerPlugin<OnData> {
 public:
  static constexpr bp::About kAbout{.id = "learner.data", .version = "1.0.0", .summary = "Learns."};
  using DataLearner::DataLearner;
  const bp_learner_spec* Spec() const override { return nullptr; }
  bp::DataRequest NextGroup() override { return {}; }
  void OnMicroBatch(const bp::Delivery&) override {}
  void Act(const bp_act&) override {}
#ifdef WRONG_ON_LIMITS
  void OnLimits(const bp_limits*) {}
#endif
#ifdef WRONG_HELD_OUT
  void HeldOutLoss(const bp::Delivery&) {}
#else
  double HeldOutLoss(const bp::Delivery&) { return 0; }
#endif
  bp_device_use DeviceUse() const { return {}; }
#ifndef WRONG_DEVICE_USE
  void ResetPeak() {}
#endif
};
const void* OfOnData() { return OnData::Api(); }

class OffRollouts : public bp::OffPolicy, public bp::LearnerPlugin<OffRollouts> {
 public:
  static constexpr bp::About kAbout{.id = "learner.off", .version = "1.0.0", .summary = "Learns."};
  explicit OffRollouts(const bp::LearnerSetup& setup) : OffPolicy(setup, {.train_freq = 4}) {}
  const bp_learner_spec* Spec() const override { return nullptr; }
  void OnPart(const bp::Delivery&) override {}
  bool OnUpdate() override { return false; }
#ifdef WRONG_OFF_ITERATION
  void OnIteration() {}
#else
  void OnIteration(uint64_t) override {}
#endif
#ifdef WRONG_OFF_LIMITS
  void OnLimits(bp_limits&) {}
#endif
  void Act(const bp_act&) override {}
};
const void* OfOffRollouts() { return OffRollouts::Api(); }

class Listener : public bp::MonitorPlugin<Listener> {
 public:
  static constexpr bp::About kAbout{.id = "monitor.listener", .version = "1.0.0", .summary = "Listens."};
  using MonitorPlugin::MonitorPlugin;
#ifdef WRONG_ON_EVENT
  void OnEvent(const bp_event&) {}
#endif
#ifdef WRONG_WANTS
  bp::IterationParts Wants() { return {}; }
#else
  bp::IterationParts Wants() const override { return {.phases = true}; }
#endif
#ifdef WRONG_ON_ITERATION
  void OnIteration(bp::Iteration) {}
#else
  void OnIteration(const bp::Iteration&) override {}
#endif
#ifdef WRONG_SAMPLE
  void Sample() {}
#else
  void Sample(int64_t) override {}
#endif
#ifdef WRONG_FINISH
  void Finish(const char*) {}
#else
  void Finish(const std::string&) override {}
#endif
};
const void* OfListener() { return Listener::Api(); }
