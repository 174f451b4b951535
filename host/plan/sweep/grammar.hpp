// A `sweep:` section, checked for its form. Its values are checked when its points are resolved.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/overrides.hpp"
#include "expression/expression.hpp"
#include "sweep/search_section.hpp"

namespace backplane {

// One value at one path.
struct Assigned {
  Override override;
  std::shared_ptr<const Expression> when;  // false at a point: the path is not written there; NULL: always
};

// The values that one step of an axis or one entry of the list writes.
struct AxisValue {
  std::vector<const Assigned*> assigned;
  std::string name;      // empty: the values are the name
  size_t file = 0;       // 0: the experiment file alone; N: with the Nth of `files` merged over it
  std::string why = {};  // reason for a point of the list
};

using Axis = std::vector<AxisValue>;

// An axis of the command line that is taken at points there are already, which stay: its variants come after them.
struct PointAxis {
  std::string point;  // name of the only one; empty: of all of the list
  Mark mark;
  Axis axis;
};

struct SweptFile {
  Node root;
  std::string name;
};

struct Derived {
  std::string path;
  Mark mark;
  Expression expression;
};

struct Seeds {
  uint64_t n = 1, first = 0;
  bool paired = true;  // the same seeds at every point
  Mark mark;
};

struct Sweep {
  Mark mark;
  std::deque<Assigned> assigned;  // what axes and list point into
  std::vector<Axis> axes;         // the first one varies slowest: grid, zip, files, random
  std::vector<AxisValue> list;
  std::vector<PointAxis> point_axes;
  std::optional<SearchTerms> search;  // then there are no axes, no list and no files
  std::vector<SearchedPath> space;    // of the search
  std::vector<SweptFile> files;
  std::vector<Derived> derive;  // each after those it needs
  std::vector<Expression> where;
  std::optional<Seeds> seeds;  // absent: the experiment's seed; where ReportConfig::DefaultSeeds is more, those after it too
  std::vector<uint64_t> given_seeds;  // the command's own; empty: none
  uint64_t passes = 0;                // number of seeds from the experiment's own, if `seeds` is absent; 0: ReportConfig's
  std::vector<std::string> memory_axes;
  std::vector<std::string> paths;           // every path that is named, in the order of the file
  std::map<std::string, std::string> whys;  // reasons for axes, by path
};

// Why a path cannot be an axis; empty: it can.
std::string WhyNoAxis(const std::string& path);

// An axis of the command line: "path=1,2,4", "path=range(1,9,2)" with the stop included, "path=choice(a,b)"; "before:path=1,2"
// of the point with that name alone.
struct ShortAxis {
  std::string point;  // empty: of no point in particular
  std::string path;
  Mark mark;
  std::vector<Node> values;
};
std::vector<ShortAxis> ParseShortAxes(const std::vector<std::string>& texts, Errors* errors);

// `section` is the value of `sweep:`; NULL: only the command line has axes. A short axis replaces the axis of its path, or adds
// one; if the points are only a list, or if it names a point, it is a PointAxis.
// Rationale: an axis next to a list would make points without any value of the list, not even their learner.
// `path_of`, for hints, returns the path of an option by its name; empty: unknown.
using PathOfName = std::function<std::string(const std::string& name)>;
Sweep ReadSweep(const Entry* section, std::vector<ShortAxis> short_axes, Errors* errors, const PathOfName& path_of = {});

}  // namespace backplane
