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
  bool swept = false;      // the batch's sweep gives the value: it is changed there, `--set` is refused
  std::string point = {};  // of a swept value: the point that was found, if it has a name to type; the change is tried there
  std::map<std::string, nlohmann::json> also = {};  // values by path that have to change with it
  std::string command = {};  // what tries it, as it is typed; empty: how the batch was started is not known

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

// What a finding proposes; the rest of it is for people.
struct Proposal {
  std::string id, title, cause;
  std::vector<Fix> fixes;  // the best first

  static void Fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("title", self.title);
    visit("cause", self.cause);
    visit("fixes", self.fixes);
  }
};

}  // namespace backplane
