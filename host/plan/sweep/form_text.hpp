// The canonical texts of points that differ only in plain values: their common part is written once.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/point_form.hpp"
#include "sweep/identity.hpp"

namespace backplane {

class FormText {
 public:
  // From a form's first point; `loaded` is its experiment, the rest as for PointIdentity.
  FormText(const PointForm& form, const LoadedExperiment& loaded, const std::map<std::string, nlohmann::json>& swept,
           const std::string& after, const IdentityRules& rules);

  // CanonicalText(PointIdentity(...)) of a point of the form, whose values of its own are `own`.
  std::string Of(const LoadedExperiment& loaded, const std::vector<nlohmann::json>& own,
                 const std::map<std::string, nlohmann::json>& swept, const std::string& after) const;

  // Returns true if a value of the points may name a file.
  bool names_files() const { return names_files_; }

 private:
  // Text, followed by one of these or nothing.
  struct Piece {
    std::string text = {};
    const HostKey* key = nullptr;       // as the experiment has it
    std::optional<size_t> option = {};  // of the point's own values
    std::string swept = {};             // key of a swept value
    bool after = false;
  };
  // The first point's identity with marks instead of the values that differ, and the piece at each mark.
  struct Marks {
    nlohmann::json identity;
    std::vector<Piece> pieces = {};

    void Add(nlohmann::json* at, Piece piece);
  };
  void MarkKeys(const PointForm& form, const LoadedExperiment& loaded, BudgetPlace budget, Marks* marks);
  void Cut(const Marks& marks);

  const IdentityRules rules_;
  std::vector<Piece> pieces_;              // empty: there are no such pieces, and each text is made whole
  std::vector<const HostKey*> not_there_;  // keys that have no place in the text of the first
  bool names_files_ = false;
};

}  // namespace backplane
