// status, watch and stop: a batch seen and ended from outside.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include "base/shell_argument.hpp"
#include "batch/stop_batch.hpp"
#include "cli/commands.hpp"
#include "cli/damage_text.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/disk_use.hpp"
#include "record/report_requests.hpp"
#include "screen/batch_view.hpp"
#include "screen/live_page.hpp"
#include "screen/watch_screen.hpp"

namespace backplane {
namespace {

struct StatusArgs {
  std::filesystem::path out;
  bool json = false;
};

struct WatchArgs {
  std::filesystem::path out;
  std::string typed_program;
  bool html = false;  // keep its page
};

struct StopArgs {
  std::filesystem::path out;
  std::string typed_program;
  bool now = false;  // kill instead of ask
};

constexpr auto kLookEvery = std::chrono::milliseconds(200);

// Absent after the reason was printed.
std::unique_ptr<BatchView> OpenOrComplain(const std::filesystem::path& out) {
  try {
    return std::make_unique<BatchView>(out);
  } catch (const std::runtime_error& error) {
    LogError("backplane: {}", error.what());
    return nullptr;
  }
}

// The whole table for a file or a pipe; what fits for a person.
Screen PictureScreen() {
  constexpr int kAnyHeight = 1 << 20, kFileWidth = 160;
  Screen screen = DetectScreen(STDOUT_FILENO);
  if (!screen.live) {
    screen.height = kAnyHeight;
    screen.width = kFileWidth;
  } else {
    screen.height -= 2;  // the line of the disk and the prompt come below
  }
  return screen;
}

// "12 completed, 1 failed, 2 interrupted, 9 not started"
std::string HowTrialsEnded(const BatchView& batch) {
  std::map<std::string, size_t> counts;
  const std::vector<TrialProgress> trials = batch.Progress().trials;
  for (const TrialProgress& trial : trials) {
    ++counts[IsFinal(trial.state) ? StateWord(trial.state) : trial.attempt > 0 ? "interrupted" : "not started"];
  }
  std::string text;
  for (const auto& [word, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  }
  return text;
}

int StatusCommand(const StatusArgs& args) {
  auto measured = std::async(std::launch::async, DiskUseOf, args.out);  // the longest part of a large folder
  const auto batch = OpenOrComplain(args.out);
  if (!batch) {
    return kUsage;
  }
  const DiskUse disk = measured.get();
  if (args.json) {
    BatchProgress progress = batch->Progress();
    progress.head.disk_bytes = disk.bytes;
    std::fputs(ProgressText().Of(progress).c_str(), stdout);
  } else {
    std::fputs(FormatBatch(batch->rows(), batch->totals(), PictureScreen()).c_str(), stdout);
    fmt::print("disk: {} (checkpoints {})\n", SizeText(disk.bytes), SizeText(disk.checkpoints));
  }
  return SayDamage(DamageIn(ResultsFolder{args.out}, batch->record(), ReadPlanFile(ResultsFolder{args.out}.plan())))
             ? static_cast<int>(kFailed)
             : static_cast<int>(kOk);
}

int WatchCommand(const WatchArgs& args) {
  const auto batch = OpenOrComplain(args.out);
  if (!batch) {
    return kUsage;
  }
  BatchScreen screen(stdout, DetectScreen(STDOUT_FILENO));
  screen.Update(batch->rows(), batch->totals());
  const ReportProgram program;
  {
    LivePage page(program.file(), args.out, args.typed_program);  // it ends before the report's page takes its place
    while (batch->running()) {
      if (args.html) page.Look();
      std::this_thread::sleep_for(kLookEvery);
      batch->Refresh();
      screen.Update(batch->rows(), batch->totals());
    }
  }
  screen.Leave();
  if (!args.html) return kOk;
  ReportRequest request;
  request.folders = {args.out};
  request.program = args.typed_program;
  request.form = "page";
  return program.Show("--make", ToJson(request));
}

// Results folders in outputs/ with a running batch.
std::vector<std::string> RunningBatches() {
  std::vector<std::string> running;
  std::error_code error;
  for (std::filesystem::directory_iterator it("outputs", error), end; !error && it != end; it.increment(error)) {
    try {
      if (BatchView(it->path()).running()) running.push_back(it->path().string());
    } catch (const std::runtime_error&) {  // no results
    }
  }
  std::ranges::sort(running);
  return running;
}

int NoFolder(const StopArgs& args) {
  const std::vector<std::string> running = RunningBatches();
  LogError("backplane: stop: expected OUT, got none; running in outputs/: {}\nhint: {} {}",
           running.empty() ? "none" : fmt::format("{}", fmt::join(running, ", ")), args.typed_program,
           running.empty() ? "status --help" : "stop " + ShellArgument(running.front()));
  return kUsage;
}

int StopCommand(const StopArgs& args) {
  if (args.out.empty()) return NoFolder(args);
  if (!OpenOrComplain(args.out)) {
    return kUsage;
  }
  const StopEnd end = StopBatch(args.out, args.now, [](const std::string& text) { LogInfo("{}", text); });
  const std::string out = args.out.string();
  const std::string ended = HowTrialsEnded(BatchView(args.out));
  if (end == StopEnd::kStopping) {
    LogError("backplane: trials in {} are still running; --now kills them\nhint: backplane stop {} --now", out,
             ShellArgument(out));
    return kFailed;
  }
  std::printf("%s in %s: %s\n", end == StopEnd::kNothingRan ? "nothing is running" : "stopped", out.c_str(), ended.c_str());
  return kOk;
}

}  // namespace

std::vector<Command> BatchCommands() {
  const auto declare_status = [](StatusArgs* args, Arguments* add) {
    add->Out(&args->out);
    add->Flag("--json", &args->json, "Print JSON in the form of progress.json");
  };
  const auto declare_stop = [](StopArgs* args, Arguments* add) {
    args->typed_program = add->program();
    add->Out(&args->out).Optional();
    add->Flag("--now", &args->now, "Kill the trials without a checkpoint");
  };
  return {MakeCommand<StatusArgs>("status", "Show the progress of an experiment", declare_status, StatusCommand),
          MakeCommand<WatchArgs>(
              "watch", "Show the progress live; Ctrl-C ends only this view",
              [](WatchArgs* args, Arguments* add) {
                args->typed_program = add->program();
                add->Out(&args->out);
                add->Flag("--html", &args->html, "Also write OUT/index.html, a live page with more detail");
              },
              WatchCommand),
          MakeCommand<StopArgs>("stop", "Stop an experiment after saving checkpoints; `run` resumes it", declare_stop,
                                StopCommand)};
}

}  // namespace backplane
