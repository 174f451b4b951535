// A change of an experiment file that a finding proposes: "fixes" of a finding in <name>_results.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// `schema_version` of <name>_results.json, which holds proposals.
inline constexpr int kDocumentSchema = 1;

struct Fix {
  std::string path;
  nlohmann::json from, to;
  bool swept = false;      // set by the sweep: change it there, because `--set` rejects it
  std::string point = {};  // swept value: the diagnosed point, if it has a name to type; the command tries the change there
  std::map<std::string, nlohmann::json> also = {};  // values by path that must change with it
  std::string command = {};                         // to paste; empty if it is unknown how the batch was started

  static void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("from", self.from);
    visit("to", self.to);
    visit("swept", self.swept);
    visit("point", self.point);
    visit("also", self.also);
    visit("command", self.command);
  }
};

// The machine-readable part of a finding.
struct Proposal {
  std::string id, title, cause;
  std::vector<Fix> fixes;  // best first

  static void Fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("title", self.title);
    visit("cause", self.cause);
    visit("fixes", self.fixes);
  }
};

}  // namespace backplane
