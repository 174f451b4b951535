// Collects everything that is wrong with a configuration, so that one look at it shows it all.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/document.hpp"
#include "config/loader.hpp"

namespace backplane {

class Errors {
 public:
  void Add(const Mark& mark, std::string message);
  // Concerns a file as a whole, such as one that cannot be opened.
  void AddFile(const std::string& file, std::string message);
  // Adds those of `other` whose place has none yet: what is wrong with one line of a sweep is wrong at many of its points.
  void AddNewPlaces(const Errors& other);
  bool empty() const { return found_.empty(); }
  // In file order: the experiment file, its bases, the overrides. The same error at the same place is listed once.
  std::vector<Diagnostic> Sorted() const;

 private:
  struct Found {
    int order;
    Diagnostic diagnostic;
  };
  std::vector<Found> found_;
  std::set<std::tuple<int, int, int>> places_;  // order, line and column, of those that AddNewPlaces took
};

}  // namespace backplane
