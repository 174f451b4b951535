// Collects everything that is wrong with a configuration, so that one look at it shows it all.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "config/loader.hpp"

namespace backplane {

class Errors {
 public:
  void Add(const Mark& mark, std::string message);
  // Concerns a file as a whole, such as one that cannot be opened.
  void AddFile(const std::string& file, std::string message);
  bool empty() const { return found_.empty(); }
  // In file order: the experiment file, its bases, the overrides. The same error at the same place is listed once.
  std::vector<Diagnostic> Sorted() const;

 private:
  struct Found {
    int order;
    Diagnostic diagnostic;
  };
  std::vector<Found> found_;
};

}  // namespace backplane
