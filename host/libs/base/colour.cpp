#include "base/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace backplane {
namespace {

ColourWhen chosen = ColourWhen::kAuto;

const char* Escape(Tone tone) {
  switch (tone) {
    case Tone::kGood: return "\x1b[32m";
    case Tone::kBad: return "\x1b[1;31m";
    case Tone::kWarning: return "\x1b[33m";
    case Tone::kBusy: return "\x1b[36m";
    case Tone::kFaint: return "\x1b[2m";
    case Tone::kStrong: return "\x1b[1m";
  }
  return "";
}

}  // namespace

void ChooseColour(ColourWhen when) { chosen = when; }

std::string ChosenColour() { return chosen == ColourWhen::kAuto ? "" : chosen == ColourWhen::kAlways ? "always" : "never"; }

bool ShowsColour(int fd) {
  if (chosen != ColourWhen::kAuto) return chosen == ColourWhen::kAlways;
  const char *term = std::getenv("TERM"), *no_color = std::getenv("NO_COLOR");
  return isatty(fd) != 0 && (term == nullptr || std::strcmp(term, "dumb") != 0) && (no_color == nullptr || *no_color == '\0');
}

std::string Toned(const std::string& text, Tone tone) { return text.empty() ? text : Escape(tone) + text + "\x1b[0m"; }

std::string WithSeverity(const std::string& line) {
  if (!ShowsColour(STDERR_FILENO)) return line;
  for (const auto& [word, tone] :
       {std::pair("error:", Tone::kBad), std::pair("warning:", Tone::kWarning), std::pair("note:", Tone::kFaint)}) {
    const size_t at = line.find(word);
    // At the start, or after the place that it refers to.
    const bool leads = at == 0 || (at != std::string::npos && at >= 2 && line.compare(at - 2, 2, ": ") == 0);
    if (leads) return line.substr(0, at) + Toned(word, tone) + line.substr(at + std::strlen(word));
  }
  return line;
}

}  // namespace backplane
