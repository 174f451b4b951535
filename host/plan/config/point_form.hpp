// Points of a sweep that write plain values at the same places differ in these values and in nothing else. Their common
// part is read once, with the first of them; for each other one only the values are read and inserted by place.
//
// Whatever is more than that (a whole mapping, a plugin, an error, a note) has no form and is read as a file is, so that there
// is one place where files get their meaning.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "config/options.hpp"
#include "config/overrides.hpp"

namespace backplane {

struct HostKey;
struct ReadPoint;
struct TableOption;

// The values of one point, in the order in which they are written. The overrides must outlive the resolver's use of them: those
// that choose plugins are recognised by their address.
using Assignments = std::vector<const Override*>;

// Not thread-safe: the experiment of a point replaces the previous one.
class PointForm {
 public:
  struct OwnPlace {
    size_t written = 0;                            // which of the assignments
    std::string path;                              // where it stands
    ValueRule rule{};                              // how it is read
    const HostKey* key = nullptr;                  // either this
    const TableOption* option = nullptr;           // or an option, below
    const HostKey* options = nullptr;              // this key,
    nlohmann::json& (*of)(Experiment&) = nullptr;  // which is this member
    const OptionInfo* alias = nullptr;             // another name of `key` that the value is given under
    std::vector<const OptionInfo*> seen_as = {};   // options that are other names of `key`, with ranges of their own
  };

  // Makes the form of a point that was read without an error or a note. `targets` are the paths of its assignments, "" if --set
  // replaced one. NULL: its values are not all plain.
  static std::unique_ptr<PointForm> Make(const Assignments& written, const std::vector<std::string>& targets,
                                         const ReadPoint& first);

  // Returns true if they write at this form's places.
  bool Fits(const Assignments& written) const;
  // The values of assignments that fit. Absent: one of the values is invalid here.
  std::optional<ReadPoint> Read(const Assignments& written);

  // By the order of places; it is the same for all points of the form.
  const std::vector<OwnPlace>& places() const { return places_; }
  const Values& common() const { return common_; }  // those at the places are the first point's
  // NULL: the points have no value of their own there.
  const nlohmann::json* Find(const std::string& path, const std::vector<nlohmann::json>& own) const;
  // Puts a point's own options into a mapping that all points have.
  void PutOptions(const std::string& path, const std::vector<nlohmann::json>& own, nlohmann::json* options) const;
  // A point's experiment, valid until the next call. The places of its values are the first point's.
  const LoadedExperiment& Load(const std::vector<nlohmann::json>& own);

 private:
  struct Shape {
    std::string path;
    Node::Kind kind;
    bool replaces, yields;
  };

  PointForm() = default;
  bool AddPlace(const Override& override, const std::string& target);
  // Fill the place at `place->path`; false if a form cannot hold its value.
  bool FindKeyPlace(const HostKey& key, const Override& override, OwnPlace* place) const;
  bool FindOptionPlace(const Override& override, OwnPlace* place) const;
  bool RowsFit(const std::vector<nlohmann::json>& own) const;

  std::vector<Shape> shapes_;  // of the assignments
  std::vector<OwnPlace> places_;
  std::shared_ptr<const std::vector<PluginSlot>> slots_;
  Values common_;
  LoadedExperiment loaded_;
};

}  // namespace backplane
