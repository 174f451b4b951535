// `stages:` as it is written: settings that are trained with one after the other, checked for their shape.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/grammar.hpp"

namespace backplane {

struct Stage {
  std::string name;
  Mark mark;
  std::vector<const Assigned*> assigned;  // each path once
};

struct Stages {
  std::deque<Assigned> assigned;   // storage for the stages' pointers
  std::vector<Stage> list;         // empty: the experiment has none, which is one without a name
  std::vector<std::string> paths;  // every path that one of them names, in the order of the file

  // "stages.NAME.PATH" taken apart; nothing: it is another path, or no stage has that name.
  std::optional<std::pair<const Stage*, std::string>> Split(const std::string& path) const;
};

// `section` is the value of `stages:`; NULL: there are none. `set` holds "stages.NAME.PATH" of the command line, which replace
// the stage's value there.
Stages ReadStages(const Entry* section, const std::vector<Override>& set, Errors* errors);

// Each path "stages.NAME.PATH" of the sweep has a stage of that name, and a PATH that a stage may have.
void CheckStagePaths(const Sweep& sweep, const Stages& stages, Errors* errors);

}  // namespace backplane
