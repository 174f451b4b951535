#include "plugin/host_services.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>

#include "places.hpp"

namespace backplane {
namespace {

TEST(HostServices, KeepsTheErrorOfTheLastFailOnce) {
  HostSinks sinks;
  HostServices services("env.x", &sinks);
  const bp_host* host = services.get();
  EXPECT_EQ(services.TakeError(), "no reason given");
  EXPECT_EQ(host->fail(host, BP_E_CONFIG, "too small"), BP_E_CONFIG);
  EXPECT_EQ(services.TakeError(), "too small");
  EXPECT_EQ(services.TakeError(), "no reason given");
}

TEST(HostServices, LogsWithThePluginsId) {
  HostSinks sinks;
  std::string line;
  sinks.log = [&](const std::string& id, int severity, const std::string& text) {
    line = id + " " + std::to_string(severity) + " " + text;
  };
  HostServices services("env.x", &sinks);
  services.get()->log(services.get(), BP_LOG_WARN, "hot");
  EXPECT_EQ(line, "env.x 3 hot");
}

TEST(HostServices, LetsNoExceptionIntoThePlugin) {
  HostSinks sinks;
  sinks.log = [](const std::string&, int, const std::string&) { throw std::runtime_error("disk full"); };
  HostServices services("env.x", &sinks);
  services.get()->log(services.get(), BP_LOG_INFO, "text");
}

TEST(HostServices, ReportsAStop) {
  std::atomic<bool> cancelled = false;
  HostSinks sinks;
  sinks.cancelled = &cancelled;
  HostServices services("env.x", &sinks);
  EXPECT_EQ(services.get()->cancelled(services.get()), 0);
  cancelled = true;
  EXPECT_NE(services.get()->cancelled(services.get()), 0);
}

TEST(HostServices, KnowsExtensionsByTheirExactName) {
  const bp_host_metrics_1 metrics = {sizeof(bp_host_metrics_1)};
  int impl = 0;
  HostSinks sinks;
  HostServices services("env.x", &sinks);
  const bp_host* host = services.get();
  EXPECT_EQ(host->get_extension(host, BP_HOST_METRICS_1), nullptr);
  sinks.metrics = &metrics;
  sinks.metrics_impl = &impl;
  EXPECT_EQ(host->get_extension(host, BP_HOST_METRICS_1), &metrics);
  EXPECT_EQ(host->get_extension(host, "bp.host.metrics/1 "), nullptr);
  EXPECT_EQ(HostServices::MetricsImpl(host), &impl);
}

TEST(HostServices, OfferPhasesIfTheHostTimesThreads) {
  const bp_host_phase_1 phase = {sizeof(bp_host_phase_1)};
  HostSinks sinks;
  HostServices services("learner.x", &sinks);
  EXPECT_EQ(services.get()->get_extension(services.get(), BP_HOST_PHASE_1), nullptr);
  sinks.phase = &phase;
  EXPECT_EQ(services.get()->get_extension(services.get(), BP_HOST_PHASE_1), &phase);
}

TEST(HostServices, RecordsFactsUnderThePluginsIdAlsoWhileItIsCreated) {
  HostSinks sinks;
  HostServices services("learner.x", &sinks);
  const bp_host* host = services.get();
  EXPECT_EQ(host->get_extension(host, BP_HOST_FACTS_1), nullptr);
  std::string line;
  sinks.fact = [&](const std::string& id, const std::string& key, const std::string& value) {
    line = id + " " + key + " " + value;
  };
  const auto* facts = static_cast<const bp_host_facts_1*>(host->get_extension(host, BP_HOST_FACTS_1));
  ASSERT_NE(facts, nullptr);
  facts->record(host, "path", "short");
  EXPECT_EQ(line, "learner.x path short");
  facts->record(host, "path", nullptr);
  EXPECT_EQ(line, "learner.x path short");
}

TEST(HostServices, ShowTheTrialOnlyToPermittedPlugins) {
  HostSinks sinks;
  HostServices services("monitor.x", &sinks);
  EXPECT_EQ(services.get()->get_extension(services.get(), BP_HOST_TRIAL_1), nullptr);
  const bp_host_trial_1 trial{sizeof trial, 2, "id", "attempt", "trial"};
  sinks.trial = &trial;
  EXPECT_EQ(services.get()->get_extension(services.get(), BP_HOST_TRIAL_1), &trial);
}

TEST(HostServices, ReportsThePluginThatUsesAGpu) {
  HostSinks sinks;
  HostServices services("env.x", &sinks);
  EXPECT_EQ(bp::GrantedGpus(services.get()), 0u);
  bp::UseGpu(services.get());  // has no effect without the service
  std::string user;
  const bp_host_gpus_1 gpus{sizeof gpus, 2, HostServices::UseGpu};
  sinks.gpus = &gpus;
  sinks.uses_gpu = [&](const std::string& id) { user = id; };
  EXPECT_EQ(bp::GrantedGpus(services.get()), 2u);
  bp::UseGpu(services.get());
  EXPECT_EQ(user, "env.x");
}

// A plugin can request every service that the headers declare, and no other.
TEST(HostServices, MatchTheHeaders) {
  std::set<std::string> declared, had;
  const std::regex define(R"re(#define BP_HOST_\w+ "(.+)")re");
  for (const char* name : {"host.h", "ext/file.h", "ext/gpus.h", "ext/shared.h", "ext/wrapper.h"}) {
    std::ifstream header(std::string(BACKPLANE_SOURCE_DIR "/host/include/backplane/") + name);
    for (std::string line; std::getline(header, line);) {
      if (std::smatch match; std::regex_match(line, match, define)) declared.insert(match[1]);
    }
  }
  const bp_host_metrics_1 metrics = {sizeof(bp_host_metrics_1)};
  const bp_host_phase_1 phase = {sizeof(bp_host_phase_1)};
  const bp_host_trial_1 trial{sizeof trial, 2, "id", "attempt", "trial"};
  HostSinks sinks;
  const bp_host_gpus_1 gpus{sizeof gpus, 1, HostServices::UseGpu};
  sinks.metrics = &metrics, sinks.phase = &phase, sinks.trial = &trial, sinks.gpus = &gpus;
  sinks.fact = [](const std::string&, const std::string&, const std::string&) {};
  sinks.parallel = [](uint64_t, void (*)(void*, uint64_t), void*) {};
  sinks.part = [](const std::string&, const std::string&) -> const void* { return nullptr; };
  HostServices services("env.x", &sinks);
  const bp_host_file_1 files{sizeof files};
  services.OfferFiles(&files, nullptr);
  const bp_host_env_1 env{sizeof env};
  services.OfferEnv(&env, nullptr);
  const bp_host_shared_1 shared{sizeof shared};
  services.OfferShared(&shared, nullptr);
  for (const HostService& service : HostServiceTable()) {
    had.insert(service.id);
    EXPECT_NE(services.get()->get_extension(services.get(), service.id), nullptr) << service.id;
  }
  EXPECT_EQ(had, declared);
}

class Options : public testing::Test {
 protected:
  OptionView view_{{{"lr", 0.5},
                    {"n", 3},
                    {"on", true},
                    {"name", "x"},
                    {"sizes", {64, 32}},
                    {"none", nullptr},
                    {"a", {{"b", 2}}},
                    {"c.d", 7},
                    {"mixed", {1, "x"}},
                    {"huge", UINT64_MAX}},
                   {{"env.options.lr", "x.yaml:3:9"}},
                   "env.options"};
  const bp_config* config_ = view_.get();
  double f64_ = -1;
  int64_t i64_ = -1;
  const char* str_ = nullptr;
};

TEST_F(Options, AreReadByType) {
  EXPECT_EQ(config_->f64(config_, "lr", &f64_), BP_OK);
  EXPECT_EQ(f64_, 0.5);
  EXPECT_EQ(config_->f64(config_, "n", &f64_), BP_OK);
  EXPECT_EQ(f64_, 3);
  EXPECT_EQ(config_->i64(config_, "on", &i64_), BP_OK);
  EXPECT_EQ(i64_, 1);
  EXPECT_EQ(config_->str(config_, "name", &str_), BP_OK);
  EXPECT_STREQ(str_, "x");
}

TEST_F(Options, ReadStructuresAsJson) {
  EXPECT_EQ(config_->str(config_, "a", &str_), BP_OK);
  EXPECT_STREQ(str_, R"({"b":2})");
  EXPECT_EQ(config_->str(config_, "mixed", &str_), BP_OK);
  EXPECT_STREQ(str_, R"([1,"x"])");
}

TEST_F(Options, MayBeNestedOrHaveDotsInTheirNames) {
  EXPECT_EQ(config_->i64(config_, "a.b", &i64_), BP_OK);
  EXPECT_EQ(i64_, 2);
  EXPECT_EQ(config_->i64(config_, "c.d", &i64_), BP_OK);
  EXPECT_EQ(i64_, 7);
}

TEST_F(Options, WithAWrongTypeOrNameAreInvalidAndKeepTheOutput) {
  EXPECT_EQ(config_->f64(config_, "name", &f64_), BP_E_INVALID_ARG);
  EXPECT_EQ(config_->i64(config_, "lr", &i64_), BP_E_INVALID_ARG);
  EXPECT_EQ(config_->i64(config_, "huge", &i64_), BP_E_INVALID_ARG);
  EXPECT_EQ(config_->str(config_, "none", &str_), BP_E_INVALID_ARG);
  EXPECT_EQ(config_->f64(config_, "nothing", &f64_), BP_E_INVALID_ARG);
  EXPECT_EQ(f64_, -1);
  EXPECT_EQ(i64_, -1);
}

TEST_F(Options, WithListsAreCutAtTheCapAndReturnTheirLength) {
  double values[2] = {-1, -1};
  uint64_t n = 0;
  EXPECT_EQ(config_->list(config_, "sizes", 1, values, &n), BP_OK);
  EXPECT_EQ(n, 2u);
  EXPECT_EQ(values[0], 64);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(config_->list(config_, "mixed", 2, values, &n), BP_E_INVALID_ARG);
}

TEST_F(Options, RecordTheirPlaces) {
  EXPECT_STREQ(config_->where(config_, "lr"), "x.yaml:3:9");
  EXPECT_STREQ(config_->where(config_, "n"), "default");
}

}  // namespace
}  // namespace backplane
