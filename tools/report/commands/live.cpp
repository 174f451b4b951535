// --live: rewrites OUT/index.html while a batch runs.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include "base/files.hpp"
#include "commands/commands.hpp"
#include "commands/page.hpp"
#include "live/folder_index.hpp"
#include "live/live_document.hpp"

namespace backplane {
namespace {

// Shortest interval between pages, and the largest share of one core. Large pages are written less often.
constexpr double kEvery_s = 5, kShareOfCore = 0.01;
constexpr size_t kMostBytes = 2 << 20;  // bytes read per pass

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Blocks termination signals during its lifetime, so that no half-written file is left.
class Unasked {
 public:
  Unasked() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigprocmask(SIG_BLOCK, &set_, nullptr);
  }
  ~Unasked() { sigprocmask(SIG_UNBLOCK, &set_, nullptr); }
  Unasked(const Unasked&) = delete;

 private:
  sigset_t set_;
};

}  // namespace

int LiveCommand(const std::filesystem::path& out, const std::string& program) {
  setpriority(PRIO_PROCESS, 0, 19);
  Drawings drawings;
  drawings.javascript = FigureScript();
  LiveBatch batch(out);
  LiveDocument live(program);
  bool listed = false;
  for (double wait_s = kEvery_s, before = CpuSeconds();;) {
    if (batch.Read(kMostBytes)) {
      Document document = live.Of(&batch);
      document.live->every_s = wait_s;
      const std::string html = RenderHtml(document, drawings, {out, FilesOf(out)});
      const Unasked unasked;
      ReplaceFile(out / kPageName, html);
      if (!listed) WriteFolderIndex(out);
      listed = true;
    }
    const double now = CpuSeconds();
    wait_s = std::max(kEvery_s, (now - before) / kShareOfCore);
    before = now;
    std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
  }
}

}  // namespace backplane
