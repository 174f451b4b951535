// bp_run: `backplane run` as a child of this process.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/embed.h"
#include "base/child.hpp"
#include "base/memory_file.hpp"
#include "base/pipe.hpp"
#include "embed/last_error.hpp"
#include "embed/open_env.hpp"
#include "embed/run_follower.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr int kTick_ms = 100;
constexpr int kWrongFile = 2, kInterruptedRun = 130;  // exit codes of `backplane run`
constexpr size_t kMostOfErrors = 16384;               // bytes of its stderr that become the error

using OnNews = int32_t (*)(void* context, const bp_run_news* news);

class Run {
 public:
  Run(const char* file, const char* const* arguments, OnNews on_news, void* context)
      : on_news_(on_news), context_(context), child_(Command(file, arguments), Setup()) {
    told_pipe_.CloseWriter();
  }

  // Returns after it has ended.
  void Follow() {
    for (bool ended = false; !ended;) {
      ended = child_.Wait(kTick_ms).has_value();  // before the last read of its files
      TakeAll();
      if (!ended && !took_any_) Tell(BP_RUN_WAITING, "");
      took_any_ = false;
      Interrupt();
    }
    Tell(BP_RUN_ENDED, out_.Content());
  }

  ChildExit exit() { return child_.Wait(0).value(); }
  bool cancelled() const { return interrupts_sent_ > 0; }
  std::string Errors() const {
    std::string text = err_.Content();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.size() <= kMostOfErrors ? text : text.substr(text.size() - kMostOfErrors);
  }

 private:
  ChildCommand Command(const char* file, const char* const* arguments) const {
    ChildCommand command;
    command.program = Home() / "bin/backplane";
    command.arguments = {"run", file, "--json"};
    bool verbose = false;
    for (; arguments && *arguments; ++arguments) {
      command.arguments.emplace_back(*arguments);
      verbose |= command.arguments.back() == "--verbose";
    }
    if (!verbose) command.arguments.emplace_back("--quiet");
    command.environment = {fmt::format("{}={}", kTellVariable, told_pipe_.writer())};
    return command;
  }
  ChildSetup Setup() const {
    return {.death_signal = SIGTERM, .stdout_fd = out_.fd(), .stderr_fd = err_.fd(), .report_fd = told_pipe_.writer()};
  }

  void TakeAll() {
    TakeLog();
    if (!follower_) {
      told_pipe_.TakeInto(&told_);
      const std::optional<RunTold> told = ReadTold(told_);
      if (!told) return;
      follower_.emplace(*told);
      Tell(BP_RUN_STARTED, told->out.string());
    }
    follower_->TakeNews([&](const RunFollower::News& news) { Tell(news.kind, news.text, news.trial, news.attempt); });
  }

  void TakeLog() {
    const std::string more = err_.Content(log_read_);
    log_read_ += more.size();
    log_ += more;
    for (size_t end; (end = log_.find('\n')) != std::string::npos; log_.erase(0, end + 1))
      Tell(BP_RUN_LOG, log_.substr(0, end));
  }

  void Tell(uint32_t kind, const std::string& text, const std::string& trial = "", unsigned attempt = 0) {
    took_any_ = true;
    if (on_news_ == nullptr) return;
    const bp_run_news news{sizeof news, kind, text.c_str(), trial.empty() ? nullptr : trial.c_str(), attempt, 0};
    const int32_t said = on_news_(context_, &news);
    interrupts_wanted_ = std::max(interrupts_wanted_, said == 0 ? 0 : said == 2 ? 2 : 1);
  }

  void Interrupt() {
    for (; interrupts_sent_ < interrupts_wanted_; ++interrupts_sent_) child_.Signal(SIGINT);
  }

  const OnNews on_news_;
  void* const context_;
  const MemoryFile out_, err_;
  Pipe told_pipe_;
  Child child_;
  std::string told_, log_;
  size_t log_read_ = 0;
  std::optional<RunFollower> follower_;
  bool took_any_ = false;
  int interrupts_wanted_ = 0, interrupts_sent_ = 0;
};

[[noreturn]] void Refuse(bp_status status, const std::string& said, const ChildExit& exit) {
  const std::string how =
      exit.signal != 0 ? "was ended by signal " + std::to_string(exit.signal) : "exited with " + std::to_string(exit.code);
  throw TrialFailure(status, "", said.empty() ? "backplane run " + how : said);
}

std::unique_ptr<Run> Start(const char* file, const char* const* arguments, OnNews on_news, void* context) {
  try {
    return std::make_unique<Run>(file, arguments, on_news, context);
  } catch (const TrialFailure&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw TrialFailure(BP_E_IO, "", e.what());
  }
}

}  // namespace
}  // namespace backplane

bp_status bp_run(const char* file, const char* const* arguments, int32_t (*on_news)(void*, const bp_run_news*), void* context,
                 int32_t* out_exit) {
  using namespace backplane;
  return Answer([&] {
    if (out_exit) *out_exit = -1;
    if (file == nullptr) throw TrialFailure(BP_E_INVALID_ARG, "", "file: expected an experiment file, got NULL");
    const std::unique_ptr<Run> run = Start(file, arguments, on_news, context);
    run->Follow();
    const ChildExit exit = run->exit();
    if (out_exit && exit.signal == 0) *out_exit = exit.code;
    if (exit.signal == 0 && exit.code == 0) return;
    const bool interrupted = run->cancelled() || (exit.signal == 0 && exit.code == kInterruptedRun);
    Refuse(interrupted                                   ? BP_E_CANCELLED
           : exit.signal == 0 && exit.code == kWrongFile ? BP_E_CONFIG
                                                         : BP_E_INTERNAL,
           run->Errors(), exit);
  });
}
