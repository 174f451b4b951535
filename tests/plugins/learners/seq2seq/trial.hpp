// A learner of this kind, driven through its function table as a host does.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "backplane/env_slot.hpp"
#include "backplane/ext/device_use.h"
#include "backplane/ext/held_out.h"
#include "backplane/module.h"
#include "texts.hpp"

namespace backplane::seq2seq::testing {

using backplane::test_support::FakeHost;
using Options = std::map<std::string, std::string>;

constexpr int64_t kSource = 40, kLabel = 20, kGenerated = 12;

inline const bp_module* Plugin() { return bp_module_v1(); }
inline const bp_learner_api* Api() { return static_cast<const bp_learner_api*>(Plugin()->api("learner.seq2seq")); }

struct EnvSpec {
  EnvSpec() {
    const auto channel = [&](uint16_t role, const char* name, const int64_t* shape, bp_dtype dtype) {
      bp_channel c{
          sizeof(bp_channel), role, BP_SPACE_BOX, BP_SCOPE_ROW, static_cast<uint16_t>(shape ? 1 : 0), dtype, name, shape};
      if (shape) c.space = BP_SPACE_TOKENS, c.nvec = &vocabulary;
      channels.push_back(c);
    };
    const bp_dtype ids = bp::DtypeOf<int32_t>();
    channel(BP_ROLE_OBS, "obs", &source, ids), channel(BP_ROLE_LENGTH, "obs_length", nullptr, ids);
    channel(BP_ROLE_LABEL, "label", &label, ids), channel(BP_ROLE_LENGTH, "label_length", nullptr, ids);
    channel(BP_ROLE_WEIGHT, "weight", nullptr, bp::DtypeOf<float>());
    channel(BP_ROLE_ACTION, "action", &generated, ids);
    raw.struct_size = sizeof raw, raw.device = {BP_DEVICE_CPU, 0};
    raw.channels = channels.data(), raw.n_channels = channels.size();
  }
  int64_t source = kSource, label = kLabel, generated = kGenerated, vocabulary = 97;
  std::vector<bp_channel> channels;
  bp_env_spec raw{};
};

inline Options Tiny(Options more = {}) {
  more.merge(Options{{"d_model", "32"},
                     {"encoder_layers", "1"},
                     {"decoder_layers", "1"},
                     {"encoder_ffn_dim", "64"},
                     {"decoder_ffn_dim", "64"},
                     {"learning_rate", "1e-3"}});
  return more;
}

class Trial {
 public:
  // Uses the CPU unless a device is set.
  explicit Trial(Options options) : host_(*Plugin()->descriptor(0), OnCpu(std::move(options))) {
    at::set_num_threads(1);                                // as in a trial
    Logged()[&host_].clear(), Recorded()[&host_].clear();  // metrics of an earlier trial at this address
    host_.host.log = [](const bp_host* h, int32_t, const char* text) { Logged()[h->impl] += std::string(text) + "\n"; };
    host_.host.get_extension = [](const bp_host*, const char* id) -> const void* {
      static const std::string folder = Folder();
      static const bp_host_trial_1 trial{sizeof trial, 1, "0", folder.c_str(), folder.c_str()};
      static const bp_host_metrics_1 metrics{sizeof metrics, 0, AddMetric, RecordMetric};
      if (std::strcmp(id, BP_HOST_METRICS_1) == 0) return &metrics;
      return std::strcmp(id, BP_HOST_TRIAL_1) == 0 ? &trial : nullptr;
    };
    status = Api()->create(&host_.host, &host_.config, &env_.raw, 4, 7, &learner_);
  }
  ~Trial() {
    if (learner_) Api()->destroy(learner_);
  }
  // Shared by all trials here.
  static std::string Folder() { return ::testing::TempDir() + "seq2seq_trial_" + std::to_string(getpid()); }
  bp_request Plan(bp_limits limits = Limits()) {
    bp_request request{sizeof(bp_request)};
    EXPECT_EQ(TryPlan(limits, &request), BP_OK) << host_.error;
    return request;
  }
  bp_status TryPlan(const bp_limits& limits, bp_request* request) { return Api()->plan(learner_, &limits, request); }
  static bp_limits Limits() {
    bp_limits limits{sizeof(bp_limits)};
    limits.micro_batch_max = limits.iterations = limits.epochs = UINT64_MAX;
    limits.iterations = 40, limits.items = 1000;
    return limits;
  }
  // Feeds the group's micro-batches until one fails.
  bp_status Feed(const Group& group, uint32_t flags = 0) {
    bp_status result = BP_OK;
    for (uint32_t k = 0; k < group.batches.size() && result == BP_OK; ++k) {
      const bool last = k + 1 == group.batches.size();
      Deliver(group, k, flags | (last ? BP_DELIVERY_LAST_IN_GROUP : 0),
              [&](const bp_delivery* d) { result = Api()->consume(learner_, d); });
    }
    return result;
  }
  bp_status Update(const Group& group) {
    bp_limits limits = Limits();
    limits.iterations_done = updates_++;
    Plan(limits);
    return Feed(group);
  }
  double HeldOut(const Group& group) {
    const auto* held_out = static_cast<const bp_learner_held_out_1*>(Api()->get_extension(learner_, BP_LEARNER_HELD_OUT_1));
    double sum = 0;
    for (uint32_t k = 0; k < group.batches.size(); ++k) {
      double loss = 0;
      Deliver(group, k, 0, [&](const bp_delivery* d) { EXPECT_EQ(held_out->loss(learner_, d, &loss), BP_OK) << error(); });
      sum += loss;
    }
    return sum / group.weight;
  }
  bp_device_use Use() {
    bp_device_use use{sizeof(bp_device_use)};
    const auto* api = static_cast<const bp_learner_device_use_1*>(Api()->get_extension(learner_, BP_LEARNER_DEVICE_USE_1));
    EXPECT_EQ(api->read(learner_, &use), BP_OK);
    return use;
  }
  void ResetPeak() {
    static_cast<const bp_learner_device_use_1*>(Api()->get_extension(learner_, BP_LEARNER_DEVICE_USE_1))->reset_peak(learner_);
  }
  std::string State() { return backplane::test_support::SaveState(Api(), learner_); }
  // A resumed trial has done `updates`; a new phase has done none.
  bp_status Load(const std::string& bytes, uint64_t updates = 0) {
    updates_ = updates;
    return backplane::test_support::LoadState(Api(), learner_, bytes);
  }
  std::vector<int32_t> Act(const std::vector<Text>& texts, uint64_t begin, uint64_t end) {
    std::vector<int32_t> written;
    EXPECT_EQ(TryAct(texts, begin, end, &written), BP_OK) << error();
    return written;
  }
  bp_status TryAct(const std::vector<Text>& texts, uint64_t begin, uint64_t end, std::vector<int32_t>* written) {
    const auto n = static_cast<int64_t>(texts.size());
    Buffer<int32_t> source({n, kSource}), length({n}), action({n, kGenerated});
    for (size_t i = 0; i < texts.size(); ++i) {
      std::copy(texts[i].source.begin(), texts[i].source.end(), &source.data[i * kSource]);
      length.data[i] = static_cast<int32_t>(texts[i].source.size());
    }
    std::fill(action.data.begin(), action.data.end(), -7);
    bp_tensor *in[] = {&source.tensor, &length.tensor}, *out[] = {&action.tensor};
    const bp_act act{sizeof(bp_act), BP_ACT_GREEDY, begin, end, 0, 0, 0, in, out};
    const bp_status result = Api()->act(learner_, &act);
    *written = action.data;
    return result;
  }
  // The last value of one of the learner's metrics.
  double Metric(const std::string& name) const { return Recorded().at(host_.host.impl).at(name); }
  const std::string& error() const { return host_.error; }
  std::string logged() { return Logged()[host_.host.impl]; }
  const bp_learner_spec* Spec() const { return Api()->spec(learner_); }

  bp_status status;

 private:
  static Options OnCpu(Options options) {
    options.try_emplace("device", "cpu");
    return options;
  }
  static std::map<const void*, std::string>& Logged() {
    static std::map<const void*, std::string> logged;
    return logged;
  }
  static std::map<const void*, std::map<std::string, double>>& Recorded() {
    static std::map<const void*, std::map<std::string, double>> recorded;
    return recorded;
  }
  static std::vector<std::string>& MetricNames() {  // by handle
    static std::vector<std::string> names;
    return names;
  }
  static int32_t AddMetric(const bp_host*, const char* name, const char*, int32_t, const char*) {
    MetricNames().push_back(name);
    return static_cast<int32_t>(MetricNames().size()) - 1;
  }
  static void RecordMetric(const bp_host* h, int32_t metric, double value) {
    Recorded()[h->impl][MetricNames()[static_cast<size_t>(metric)]] = value;
  }
  template <class Body>
  void Deliver(const Group& group, uint32_t k, uint32_t flags, Body&& body) {
    const MicroBatch& batch = group.batches[k];
    const char* names[] = {"obs", "obs_length", "label", "label_length"};
    bp_tensor* tensors[] = {const_cast<bp_tensor*>(batch.source), const_cast<bp_tensor*>(batch.source_length),
                            const_cast<bp_tensor*>(batch.label), const_cast<bp_tensor*>(batch.label_length)};
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_DATA, k, static_cast<uint32_t>(group.batches.size()), flags};
    delivery.n_tensors = 4, delivery.names = names, delivery.tensors = tensors, delivery.group_weight = group.weight;
    body(&delivery);
  }

  FakeHost host_;
  EnvSpec env_;
  bp_learner* learner_ = nullptr;
  uint64_t updates_ = 0;
};

}  // namespace backplane::seq2seq::testing
