// A learner driven through its function table, as the host drives it.
#pragma once

#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace backplane::test_support {

class DrivenLearner {
 public:
  // The plugin that is linked into the test.
  explicit DrivenLearner(std::map<std::string, std::string> options)
      : host_(*bp_module_v1()->descriptor(0), std::move(options)),
        api_(static_cast<const bp_learner_api*>(bp_module_v1()->api(bp_module_v1()->descriptor(0)->id))) {}
  ~DrivenLearner() {
    if (learner_) api_->destroy(learner_);
  }
  DrivenLearner(const DrivenLearner&) = delete;

  // Replaces the instance by a new one; status() is the result of its creation.
  void Create(const bp_env_spec& env, int64_t rows, uint64_t seed = 1) {
    if (learner_) api_->destroy(learner_);
    learner_ = nullptr, rows_ = static_cast<uint64_t>(rows);
    status_ = api_->create(&host_.host, &host_.config, &env, rows_, seed, &learner_);
  }
  bp_request Plan(double progress = 0) {
    bp_limits limits{sizeof(bp_limits), 0, rows_};
    limits.progress = progress, limits.device_bytes = device_bytes, limits.flags = limit_flags;
    bp_request request{sizeof(bp_request)};
    EXPECT_EQ(api_->plan(learner_, &limits, &request), BP_OK) << error();
    return request;
  }
  bp_status Consume(const bp_delivery& delivery) { return api_->consume(learner_, &delivery); }
  bp_status Tick() { return Consume({sizeof(bp_delivery), BP_REQ_TICK}); }
  // Runs all ticks that the learner requests after a delivery that ended with `status`.
  bp_status Learn(bp_status status, double progress = 0) {
    while (status == BP_OK && Plan(progress).kind == BP_REQ_TICK) status = Tick();
    return status;
  }
  bp_status Act(const bp_act& act) { return api_->act(learner_, &act); }
  std::string Saved() { return SaveState(api_, learner_); }
  bp_status Load(const std::string& saved) { return learner_ ? LoadState(api_, learner_, saved) : status_; }
  std::string SavedPolicy() { return SaveWith(policy().save, learner_); }
  bp_status LoadPolicy(const std::string& saved) { return LoadWith(policy().load, learner_, saved); }
  bp_status StartPolicy(const std::string& saved) { return LoadWith(policy().start, learner_, saved); }
  std::string PolicyForm() { return policy().form(learner_); }

  bp_device_use DeviceUse() {
    bp_device_use use{sizeof(bp_device_use)};
    const auto* api = static_cast<const bp_learner_device_use_1*>(api_->get_extension(learner_, BP_LEARNER_DEVICE_USE_1));
    EXPECT_EQ(api->read(learner_, &use), BP_OK);
    return use;
  }

  uint64_t device_bytes = 0;  // of the limits
  uint32_t limit_flags = 0;

  FakeHost& host() { return host_; }
  bp_status status() const { return status_; }
  const std::string& error() const { return host_.error; }
  const bp_learner_spec& spec() const { return *api_->spec(learner_); }
  // Numbers per row of the learner's memory, a channel of BP_ROLE_CARRY; 0: none.
  int64_t carry() const {
    for (uint64_t i = 0; learner_ && i < spec().n_act_out; ++i)
      if (spec().act_out[i].role == BP_ROLE_CARRY) return spec().act_out[i].shape[0];
    return 0;
  }

 private:
  const bp_learner_policy_1& policy() const {
    return *static_cast<const bp_learner_policy_1*>(api_->get_extension(learner_, BP_LEARNER_POLICY_1));
  }

  FakeHost host_;
  const bp_learner_api* api_;
  bp_learner* learner_ = nullptr;
  bp_status status_ = BP_OK;
  uint64_t rows_ = 0;
};

}  // namespace backplane::test_support
