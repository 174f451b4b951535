// Colour and weight of terminal text by meaning; only words with a meaning are coloured.
#pragma once

#include <string>

namespace backplane {

enum class ColourWhen { kAuto = 1, kAlways, kNever };

// `--color`; kAuto until it is called.
void ChooseColour(ColourWhen when);
// The value of --color that gives a child program the same choice; empty: kAuto.
std::string ChosenColour();
// By kAuto: `fd` is a terminal, TERM is not "dumb", and NO_COLOR is not set or empty.
bool ShowsColour(int fd);

enum class Tone { kGood = 1, kBad, kWarning, kBusy, kFaint, kStrong };
std::string Toned(const std::string& text, Tone tone);

// A line for stderr: colours its first "error:", "warning:" or "note:" if stderr shows colours.
std::string WithSeverity(const std::string& line);

}  // namespace backplane
