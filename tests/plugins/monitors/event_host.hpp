// A monitor plugin with a small host that describes its trial, and a folder for its files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backplane/monitor.h"
#include "fake_host.hpp"

namespace backplane::test_support {

class MonitorTest : public ::testing::Test {
 protected:
  MonitorTest() { std::filesystem::create_directories(attempt_dir_); }
  ~MonitorTest() override {
    if (monitor_ != nullptr) api_->destroy(monitor_);
    std::filesystem::remove_all(folder_);
  }
  void Create(const std::string& id, std::map<std::string, std::string> options = {}, uint32_t attempt = 1) {
    static bp_host_trial_1 trial;  // static, because the host's C function reads it
    trial = {sizeof trial, attempt, "0123abcd", attempt_dir_.c_str(), folder_.c_str()};
    host_ = std::make_unique<FakeHost>(*bp_module_v1()->descriptor(0), std::move(options));
    host_->host.get_extension = [](const bp_host*, const char* name) -> const void* {
      return std::string(name) == BP_HOST_TRIAL_1 ? &trial : nullptr;
    };
    api_ = static_cast<const bp_monitor_api*>(bp_module_v1()->api(id.c_str()));
    ASSERT_EQ(api_->create(&host_->host, &host_->config, &monitor_), BP_OK) << host_->error;
  }
  void Send(const std::vector<bp_event>& events) {
    EXPECT_EQ(api_->on_events(monitor_, events.data(), events.size()), BP_OK) << host_->error;
  }
  static bp_event Event(uint32_t type, const char* name, int64_t t_ns, double value) {
    bp_event event{};
    event.struct_size = sizeof event;
    event.type = type, event.name = name, event.t_ns = t_ns, event.value = value;
    return event;
  }
  bool Wants(uint32_t type) { return (api_->interests(monitor_) & (uint64_t{1} << type)) != 0; }

  const std::filesystem::path folder_{std::filesystem::path(::testing::TempDir()) / ("monitor_" + std::to_string(getpid()))};
  const std::filesystem::path attempt_dir_ = folder_ / "attempt-1";
  std::unique_ptr<FakeHost> host_;
  const bp_monitor_api* api_ = nullptr;
  bp_monitor* monitor_ = nullptr;
};

}  // namespace backplane::test_support
