#include "figures/gnuplot_process.hpp"

#include <cstring>

#include "base/run_process.hpp"

namespace backplane {
namespace {

constexpr size_t kMostSaid = 4096;

}  // namespace

GnuplotRun RunGnuplot(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  ProcessCall call{{"gnuplot", "--default-settings"}, folder};
  call.words.insert(call.words.end(), arguments.begin(), arguments.end());
  call.limit = std::chrono::minutes(1);
  const ProcessEnd end = RunProcess(call);
  GnuplotRun run{end.started, end.ok(), (end.out + end.err).substr(0, kMostSaid)};
  if (end.timed_out) {
    run.said = "it did not end within a minute";
  } else if (end.signal != 0) {
    run.said = std::string("it was ended by ") + strsignal(end.signal);
  }
  return run;
}

}  // namespace backplane
