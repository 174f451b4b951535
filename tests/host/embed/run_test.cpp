// An experiment in a child process: the news of bp_run, cancelling, and its end with the caller.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "backplane/embed.h"
#include "places.hpp"

namespace backplane::embed_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

struct News {
  uint32_t kind;
  std::string text, trial;
  unsigned attempt;
};

class RunTest : public testing::Test {
 protected:
  RunTest() { fs::create_directories(dir_); }
  ~RunTest() override { fs::remove_all(dir_); }

  fs::path Write(const std::string& budget, const std::string& more = "") const {
    const fs::path file = dir_ / "cart.yaml";
    std::ofstream(file) << "experiment: cart\nenv: {plugin: cartpole}\nlearner: {plugin: random}\nmonitors: []\nbudget: {"
                        << budget << "}\noutput: {dir: " << (dir_ / "out").string() << "}\n"
                        << more;
    return file;
  }
  // Runs the experiment; the callback returns the result of `answer`.
  bp_status Run(
      const fs::path& file, std::vector<const char*> arguments = {},
      const std::function<int32_t(const News&)>& answer = [](const News&) { return 0; }) {
    news_.clear();
    answer_ = answer;
    arguments.push_back(nullptr);
    const auto on_news = [](void* context, const bp_run_news* news) {
      auto* self = static_cast<RunTest*>(context);
      EXPECT_EQ(std::this_thread::get_id(), self->thread_);
      self->news_.push_back({news->kind, news->text, news->trial ? news->trial : "", news->attempt});
      return self->answer_(self->news_.back());
    };
    return bp_run(file.c_str(), arguments.data(), on_news, this, &exit_);
  }
  std::vector<News> Of(uint32_t kind) const {
    std::vector<News> out;
    for (const News& news : news_)
      if (news.kind == kind) out.push_back(news);
    return out;
  }
  static std::vector<std::string> Lines(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  fs::path Out() const { return dir_ / "out"; }
  // Counts processes that work in the results folder, by their arguments.
  int Processes() const {
    int n = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "cmdline", std::ios::binary);
      std::ostringstream words;  // an iterator would throw if a process ends meanwhile
      words << in.rdbuf();
      n += words.str().find(dir_.string()) != std::string::npos;
    }
    return n;
  }

  fs::path dir_ = fs::path(testing::TempDir()) / ("embed_run_" + std::to_string(getpid()));
  std::thread::id thread_ = std::this_thread::get_id();
  std::vector<News> news_;
  std::function<int32_t(const News&)> answer_;
  int32_t exit_ = -2;
};

TEST_F(RunTest, ReportsEventsMetricsAndProgress) {
  const fs::path file = Write("iterations: 3", "sweep: {seeds: {n: 2}}\n");
  ASSERT_EQ(Run(file), BP_OK) << bp_embed_error();
  EXPECT_EQ(exit_, 0);
  ASSERT_THAT(Of(BP_RUN_STARTED), SizeIs(1));
  EXPECT_EQ(Of(BP_RUN_STARTED)[0].text, Out().string());
  // All lines of the files, in order.
  std::vector<std::string> events;
  std::map<std::string, std::vector<std::string>> metrics;
  for (const News& news : Of(BP_RUN_EVENT)) events.push_back(news.text);
  EXPECT_EQ(events, Lines(Out() / "events.jsonl"));
  for (const News& news : Of(BP_RUN_METRICS)) metrics[news.trial].push_back(news.text);
  EXPECT_THAT(metrics, SizeIs(2));
  for (const auto& [trial, lines] : metrics) EXPECT_EQ(lines, Lines(Out() / "trials" / trial / "attempt-1" / "metrics.jsonl"));
  const auto last = nlohmann::json::parse(Of(BP_RUN_PROGRESS).back().text);
  EXPECT_EQ(last.at("state"), "done");
  EXPECT_EQ(last.at("done"), 2);
  EXPECT_EQ(news_.back().kind, static_cast<uint32_t>(BP_RUN_ENDED));
  EXPECT_TRUE(nlohmann::json::parse(news_.back().text).is_object());
  // A second run has nothing to do and repeats no news of the first.
  ASSERT_EQ(Run(file), BP_OK) << bp_embed_error();
  EXPECT_THAT(Of(BP_RUN_METRICS), SizeIs(0));
  for (const News& news : Of(BP_RUN_EVENT))
    EXPECT_THAT(news.text, AllOf(HasSubstr("session."), testing::Not(HasSubstr("attempt"))));
}

TEST_F(RunTest, PassesArgumentsToTheProgram) {
  ASSERT_EQ(Run(Write("iterations: 3"), {"--set", "budget.iterations=1", "--out", (dir_ / "elsewhere").c_str()}), BP_OK);
  EXPECT_EQ(Of(BP_RUN_STARTED)[0].text, (dir_ / "elsewhere").string());
  EXPECT_EQ(bp_run(Write("iterations: 1").c_str(), nullptr, nullptr, nullptr, nullptr), BP_OK) << "works without a callback";
}

TEST_F(RunTest, CancelsLikeCtrlCAndResumes) {
  const fs::path file = Write("env_steps: 2000000000");
  const auto cancel = [](const News& news) { return news.kind == BP_RUN_METRICS ? 1 : 0; };
  EXPECT_EQ(Run(file, {}, cancel), BP_E_CANCELLED);
  EXPECT_EQ(exit_, 130);
  EXPECT_THAT(Of(BP_RUN_EVENT).back().text, HasSubstr("\"why\":\"interrupted\""));
  EXPECT_EQ(Processes(), 0);
  EXPECT_TRUE(fs::exists(Out() / "trials")) << "it saved a checkpoint";
  // The second call resumes from the checkpoint.
  EXPECT_EQ(Run(file, {}, cancel), BP_E_CANCELLED);
  bool resumed = false;
  for (const News& news : Of(BP_RUN_EVENT)) resumed |= news.text.find("\"resumed\":true") != std::string::npos;
  EXPECT_TRUE(resumed);
}

TEST_F(RunTest, ReportsErrorsOfTheFile) {
  EXPECT_EQ(Run(Write("iterations: 0")), BP_E_CONFIG);
  EXPECT_EQ(exit_, 2);
  EXPECT_THAT(bp_embed_error(), AllOf(HasSubstr("cart.yaml:5:"), HasSubstr("budget.iterations: 0 is out of range")));
  EXPECT_FALSE(Of(BP_RUN_LOG).empty());
  EXPECT_EQ(bp_run(nullptr, nullptr, nullptr, nullptr, nullptr), BP_E_INVALID_ARG);
  setenv("BACKPLANE_HOME", "/nowhere", 1);
  EXPECT_EQ(Run(Write("iterations: 1")), BP_E_IO);
  EXPECT_STREQ(bp_embed_error(), "cannot start /nowhere/bin/backplane: No such file or directory");
  unsetenv("BACKPLANE_HOME");
}

TEST_F(RunTest, WorksIfTheCallerIgnoresItsChildren) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const bp_status status = Run(Write("iterations: 1"));
  signal(SIGCHLD, before);
  EXPECT_EQ(status, BP_E_INTERNAL) << "its result is unknown";
  EXPECT_EQ(exit_, -1);
  EXPECT_EQ(nlohmann::json::parse(Of(BP_RUN_PROGRESS).back().text).at("state"), "done");
}

TEST_F(RunTest, DiesWithItsCaller) {
  const fs::path file = Write("env_steps: 2000000000");
  const pid_t caller = fork();
  if (caller == 0) {
    bp_run(file.c_str(), nullptr, nullptr, nullptr, nullptr);
    _exit(0);
  }
  const auto until = [](const std::function<bool()>& holds) {
    for (int i = 0; i < 3000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return holds();
  };
  const auto trains = [&] {
    std::error_code error;
    for (const auto& trial : fs::directory_iterator(Out() / "trials", error))
      if (!Lines(trial.path() / "attempt-1" / "metrics.jsonl").empty()) return true;
    return false;
  };
  ASSERT_TRUE(until(trains));
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  EXPECT_TRUE(until([&] { return Processes() == 0; }));
  EXPECT_THAT(Lines(Out() / "events.jsonl").back(), HasSubstr("\"why\":\"interrupted\"")) << "as by Ctrl-C";
}

}  // namespace
}  // namespace backplane::embed_test
