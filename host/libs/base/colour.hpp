// Colour and weight on a terminal, by what a word means: nothing else has a colour.
#pragma once

#include <string>

namespace backplane {

enum class ColourWhen { kAuto = 1, kAlways, kNever };

// `--color`; kAuto until it is called.
void ChooseColour(ColourWhen when);
// The word for --color that makes another program choose the same; empty: kAuto.
std::string ChosenColour();
// By kAuto: `fd` is a terminal, TERM is not "dumb", and NO_COLOR is not set or empty.
bool ShowsColour(int fd);

enum class Tone { kGood = 1, kBad, kWarning, kBusy, kFaint, kStrong };
std::string Toned(const std::string& text, Tone tone);

// A line for stderr: its first "error:", "warning:" or "note:" in the tone of that word, where stderr shows colours.
std::string WithSeverity(const std::string& line);

}  // namespace backplane
