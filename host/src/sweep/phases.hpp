// `phases:` as it is written: settings that are trained with one after the other, checked for their shape.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/grammar.hpp"

namespace backplane {

struct Phase {
  std::string name;
  Mark mark;
  std::vector<const Assigned*> assigned;  // each path once
};

struct Phases {
  std::deque<Assigned> assigned;   // what the phases point into
  std::vector<Phase> list;         // empty: the experiment has none, which is one without a name
  std::vector<std::string> paths;  // every path that one of them names, in the order of the file

  // "phases.NAME.PATH" taken apart; nothing: it is another path, or no phase has that name.
  std::optional<std::pair<const Phase*, std::string>> Split(const std::string& path) const;
};

// `section` is the value of `phases:`; NULL: there are none. `set` holds "phases.NAME.PATH" of the command line, which replace
// what the phase says there.
Phases ReadPhases(const Entry* section, const std::vector<Override>& set, Errors* errors);

// Each path "phases.NAME.PATH" of the sweep has a phase of that name, and a PATH that a phase may have.
void CheckPhasePaths(const Sweep& sweep, const Phases& phases, Errors* errors);

}  // namespace backplane
