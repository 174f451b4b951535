#include "screen/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

#include "base/colour.hpp"
#include "base/format_count.hpp"
#include "base/patient_output.hpp"
#include "base/printable.hpp"
#include "base/text_columns.hpp"
#include "machine/resource_measures.hpp"
#include "screen/cursor.hpp"

namespace backplane {
namespace {

constexpr double kPlainEvery_s = 30;
constexpr int kMaxLiveWidth = 160;

std::string Steps(const StatusFile& status, const BudgetConfig& budget) {
  const std::string most = budget.env_steps ? "/" + FormatCount(*budget.env_steps) : "";
  return FormatCount(status.env_steps) + most + " steps";
}

}  // namespace

std::vector<LiveValue> LiveOf(const StatusFile& status) {
  std::vector<LiveValue> live;
  for (const StatusFile::Live& one : status.live) {
    if (one.name[0] == '\0') break;
    live.push_back({one.name, std::isfinite(one.value) ? std::optional(one.value) : std::nullopt, one.added == 0});
  }
  return live;
}

std::string LiveText(const LiveValue& value) {
  if (!value.value) return "";
  const std::optional<double> target = resource_measure::TargetOf(value.name);
  return fmt::format("{:.4g}", *value.value) + (target && *value.value < *target ? fmt::format(" (target {:g})", *target) : "");
}

std::string LiveHeading(const std::string& name, const std::vector<LiveValue>& all) {
  const auto last_part = [](const std::string& whole) { return whole.substr(whole.rfind('/') + 1); };
  const std::string brief = last_part(name);
  const auto alike = std::count_if(all.begin(), all.end(), [&](const LiveValue& one) { return last_part(one.name) == brief; });
  // The column of every trial has the heading `return` as well.
  return Printable(brief.empty() || brief == "return" || alike > 1 ? name : brief);
}

std::string FormatClock(double seconds) {
  const uint64_t total = seconds > 0 ? static_cast<uint64_t>(std::llround(seconds)) : 0;
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string FormatProgress(const StatusFile& status, const BudgetConfig& budget, double elapsed_s, std::optional<double> left_s,
                           int width) {
  // In the order in which they stand, each with how soon it gives way: how far, how good and how long are what people look for.
  struct Field {
    int rank;
    std::string text;
  };
  std::vector<Field> fields = {{0, fmt::format("{:<8}", Printable(status.phase))}};
  fields.push_back({5, budget.iterations ? fmt::format("iteration {}/{}", status.iteration, *budget.iterations)
                                         : fmt::format("iteration {}", status.iteration)});
  fields.push_back({6, Steps(status, budget)});
  if (budget.episodes)
    fields.push_back({5, fmt::format("{}/{} episodes", FormatCount(status.episodes), FormatCount(*budget.episodes))});
  fields.push_back({1, fmt::format("{} %", static_cast<int>(std::clamp(status.progress, 0.0, 1.0) * 100))});
  const std::vector<LiveValue> live = LiveOf(status);
  const auto add_live = [&](bool asked) {
    for (const LiveValue& one : live)
      if (one.value && one.asked == asked) fields.push_back({asked ? 3 : 7, LiveHeading(one.name, live) + " " + LiveText(one)});
  };
  add_live(true);
  if (status.sps > 0) fields.push_back({4, FormatCount(static_cast<uint64_t>(status.sps)) + " steps/s"});
  if (std::isfinite(status.episode_return)) fields.push_back({2, fmt::format("return {:.4g}", status.episode_return)});
  fields.push_back({1, FormatClock(elapsed_s) + (left_s ? ", about " + FormatClock(*left_s) + " left" : "")});
  add_live(false);
  constexpr size_t kGap = 2;
  std::vector<size_t> order(fields.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return fields[a].rank < fields[b].rank; });
  size_t used = 0;
  std::vector<bool> stands(fields.size());
  for (const size_t i : order) {
    const size_t more = Columns(fields[i].text) + (used > 0 ? kGap : 0);
    if (used + more > static_cast<size_t>(std::max(width, 0))) break;
    used += more;
    stands[i] = true;
  }
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (stands[i]) line += (line.empty() ? "" : "  ") + fields[i].text;
  }
  return line;
}

std::string TimeOfDay() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

Progress::Progress(std::FILE* stream, const Screen& screen, const BudgetConfig& budget)
    : stream_(stream), screen_(screen), budget_(budget) {}

std::optional<double> Progress::Left(const StatusFile& status, double elapsed_s) {
  if (!first_progress_ || status.progress < *first_progress_) {
    first_progress_ = status.progress;
    first_elapsed_s_ = elapsed_s;
  }
  const double gained = status.progress - *first_progress_;
  if (gained < 0.005) {
    return std::nullopt;  // too early for a figure that means something
  }
  return (elapsed_s - *first_elapsed_s_) * (1 - status.progress) / gained;
}

void Progress::Update(const StatusFile& status, double elapsed_s) {
  const std::optional<double> left_s = Left(status, status.own_s > 0 ? status.own_s : elapsed_s);
  if (screen_.live) {
    // One column less than there is: a full line makes some terminals wrap, and the redraw would then climb the screen.
    const Screen now = DetectScreen(DescriptorOf(stream_));  // the window may have been resized
    const int width = std::min(now.live ? now.width : screen_.width, kMaxLiveWidth) - 1;
    const std::string line = FormatProgress(status, budget_, elapsed_s, left_s, width);
    HideCursor(stream_);
    fmt::print(stream_, "{}\r\x1b[2K{}{}", kBeginUpdate, screen_.colour ? Toned(line, Tone::kBusy) : line, kEndUpdate);
    std::fflush(stream_);
    drawn_ = true;
  } else if (elapsed_s >= next_plain_s_) {
    fmt::print(stream_, "{}  {}\n", TimeOfDay(), FormatProgress(status, budget_, elapsed_s, left_s, kMaxLiveWidth));
    std::fflush(stream_);
    next_plain_s_ = elapsed_s + kPlainEvery_s;
  }
}

std::string NoteLines(const std::string& text, const Screen& screen) {
  if (!screen.live) return TimeOfDay() + "  " + WithSeverity(Printable(text)) + "\n";
  return WithSeverity(WrapAfter("", "  ", Printable(text), static_cast<size_t>(std::max(screen.width, 20)) - 3));
}

void Progress::Note(const std::string& text) {
  Clear();
  fmt::print(stream_, "{}", NoteLines(text, screen_));
  std::fflush(stream_);
}

void Progress::Clear() {
  if (drawn_) {
    fmt::print(stream_, "\r\x1b[2K");
    std::fflush(stream_);
    drawn_ = false;
  }
  ShowCursor();
}

}  // namespace backplane
