#include "trial/policy_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backplane/ext/clock.h"
#include "backplane/ext/labels.h"
#include "backplane/ext/policy.h"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "record/policy_file.hpp"
#include "rollout/check_spec.hpp"
#include "rollout/failure.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxLabel = 128;  // bytes

// The acts of a few channels. Keeps every n-th one, and doubles n when it has twice the wanted number.
class Acts {
 public:
  explicit Acts(size_t channels) : bytes_(channels) {}

  bool Wanted() { return seen_++ % every_ == 0; }
  void Add(size_t channel, const std::byte* data, uint64_t n) {
    bytes_[channel].append(reinterpret_cast<const char*>(data), n);
  }
  void End() {
    if (++kept_ < 2 * kRecordedActs) return;
    Thin([](uint64_t i) { return 2 * i; }, kRecordedActs);
    every_ *= 2;
  }
  void Finish() {
    if (kept_ > kRecordedActs) Thin([n = kept_](uint64_t i) { return i * n / kRecordedActs; }, kRecordedActs);
  }
  uint64_t kept() const { return kept_; }
  const std::string& of(size_t channel) const { return bytes_[channel]; }

 private:
  template <class From>
  void Thin(From&& from, uint64_t left) {
    for (std::string& all : bytes_) {
      const uint64_t each = all.size() / kept_;
      std::string some;
      for (uint64_t i = 0; i < left; ++i) some.append(all, from(i) * each, each);
      all = std::move(some);
    }
    kept_ = left;
  }

  std::vector<std::string> bytes_;
  uint64_t seen_ = 0, every_ = 1, kept_ = 0;
};

nlohmann::json Bounds(const double* values, uint64_t n) {
  nlohmann::json bounds = nlohmann::json::array();
  for (uint64_t i = 0; i < n; ++i)
    bounds.push_back(std::isfinite(values[i]) ? nlohmann::json(values[i]) : nlohmann::json(nullptr));
  return bounds;
}

PolicyChannel About(const bp_channel& c) {
  const bool discrete = c.space == BP_SPACE_DISCRETE;
  return {.name = c.name,
          .role = bp::RoleText(c.role),
          .scope = c.scope == BP_SCOPE_AGENT ? "agent" : "row",
          .space = discrete                  ? "discrete"
                   : c.space == BP_SPACE_BOX ? "box"
                                             : "other",
          .dtype = bp::DtypeText(c.dtype),
          .shape = {c.shape, c.shape + c.ndim},
          .low = Bounds(c.low, c.n_bounds),
          .high = Bounds(c.high, c.n_bounds),
          .choices = discrete && c.nvec != nullptr ? c.nvec[0] : 0,
          .bytes = static_cast<uint64_t>(bp::ElementCount(c)) * c.dtype.bits / 8};
}

// The innermost env's, for a channel that wrappers left as it is.
std::vector<PolicyLabel> LabelsOf(EnvInstance& outer, const bp_channel& channel) {
  EnvInstance& env = outer.innermost();
  const bp_channel* declared_below = bp::FindChannel(env.spec(), channel.name);
  if (declared_below == nullptr || Layout(*declared_below) != Layout(channel)) return {};
  const auto* table = env.Extension<bp_env_labels_1>(BP_ENV_LABELS_1);
  std::vector<PolicyLabel> labels(table == nullptr ? 0 : static_cast<size_t>(bp::ElementCount(channel)));
  size_t declared = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    char name[kMaxLabel] = "", unit[kMaxLabel] = "";
    const uint32_t is_declared =
        env.Call("label", [&](bp_env* instance) { return table->label(instance, channel.name, i, name, unit, kMaxLabel); });
    if (is_declared == 0) continue;
    name[kMaxLabel - 1] = unit[kMaxLabel - 1] = '\0';
    labels[i] = {PrintableFirstLine(name), PrintableFirstLine(unit)};
    ++declared;
  }
  return declared > 0 ? labels : std::vector<PolicyLabel>();
}

// The channels that the learner reads, then the env's actions, then the memory that it writes.
std::vector<const bp_channel*> ChannelsOfAct(const EnvInstance& env, const LearnerInstance& learner) {
  std::vector<const bp_channel*> all;
  for (const std::string& name : learner.act_in()) {
    for (const bp_channel* c : env.channels())
      if (name == c->name) all.push_back(c);
    for (const bp_channel* c : learner.carry())
      if (name == c->name) all.push_back(c);
  }
  for (const bp_channel* c : env.channels())
    if (c->role == BP_ROLE_ACTION) all.push_back(c);
  all.insert(all.end(), learner.carry().begin(), learner.carry().end());
  return all;
}

Acts Play(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, const TrialSpec& spec,
          const std::vector<const bp_channel*>& channels, const std::atomic<bool>& cancelled,
          const std::function<void()>& beat) {
  Evaluator evaluator(env, learner, threads.collectors(), env.rows(), spec.experiment.seed, cancelled, beat);
  const uint64_t cap = spec.experiment.evaluation.max_episode_steps;
  evaluator.CapEpisodes(cap > 0 ? std::min(cap, kRecordedSteps) : kRecordedSteps);
  Acts acts(channels.size());
  uint64_t agents = 1;  // per row
  for (const bp_channel* c : channels) agents = std::max(agents, env.Lead(*c) / env.rows());
  evaluator.OnEveryAct([&](SlotBuffers& buffers, uint64_t begin, uint64_t end) {
    ChannelBuffer* const alive = buffers.OfRole(BP_ROLE_ALIVE);
    for (uint64_t agent = begin * agents; agent < end * agents; ++agent) {
      if (alive != nullptr && alive->lead() == env.rows() * agents && *alive->at<uint8_t>(0, agent) == 0) continue;
      if (!acts.Wanted()) continue;
      for (size_t i = 0; i < channels.size(); ++i) {
        const bool written = i + learner.carry().size() >= channels.size();
        ChannelBuffer& buffer = written ? buffers.Written(channels[i]->name) : buffers[channels[i]->name];
        acts.Add(i, buffer.row(0, buffer.lead() > env.rows() ? agent : agent / agents), buffer.row_bytes());
      }
      acts.End();
    }
  });
  evaluator.Play(Evaluator::Policy::kLearner, threads.clocks());
  acts.Finish();
  return acts;
}

nlohmann::json FormOf(LearnerInstance& learner) {
  if (OffersPolicy(learner)) return PolicyForm(learner);
  throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                     "cannot export its policy, because it does not offer " BP_LEARNER_POLICY_1);
}

}  // namespace

std::string PolicyRecord(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, const TrialSpec& spec,
                         uint64_t iterations, const std::atomic<bool>& cancelled, const std::function<void()>& beat) {
  PolicyFile about{.experiment = spec.experiment.name,
                   .trial = spec.trial_id,
                   .env = env.id(),
                   .learner = learner.id(),
                   .iterations = iterations,
                   .form = FormOf(learner)};
  if (env.on_device())
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(), "keeps its channels on a GPU, so its observations cannot be recorded");
  if (env.spec().n_groups > 0)
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                       fmt::format("cannot export its policy: expected agents with the same channels, but {} has {}", env.id(),
                                   GroupsText(env.spec())));
  const std::vector<std::byte> policy = SavePolicy(learner).value();
  const std::vector<const bp_channel*> channels = ChannelsOfAct(env, learner);
  const Acts acts = Play(env, learner, threads, spec, channels, cancelled, beat);
  about.policy_bytes = policy.size(), about.acts = acts.kept();
  EnvInstance& inner = env.innermost();
  if (const auto* clock = inner.Extension<bp_env_clock_1>(BP_ENV_CLOCK_1))
    about.step_s = inner.Call("step_s", [&](bp_env* instance) { return clock->step_s(instance); });
  for (const bp_channel* c : channels) {
    about.channels.push_back(About(*c));
    if (c->role != BP_ROLE_CARRY) about.channels.back().labels = LabelsOf(env, *c);
  }
  for (size_t i = 0; i < learner.carry().size(); ++i) {
    std::string& name = about.channels.rbegin()[static_cast<std::ptrdiff_t>(i)].name;
    name = "next_" + name;
  }
  std::string text = JsonText(ToJson(about)) + "\n";
  text.append(reinterpret_cast<const char*>(policy.data()), policy.size());
  for (size_t i = 0; i < channels.size(); ++i) text += acts.of(i);
  return text;
}

}  // namespace backplane
