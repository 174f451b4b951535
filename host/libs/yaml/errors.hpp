// Collects everything that is wrong with a configuration, so that one look at it shows it all.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "yaml/document.hpp"

namespace backplane {

enum class ErrorCode { kOther = 1, kNoBudget };

struct Diagnostic {
  std::string file;          // as the user named it; "--set" for an override
  int line = 0, column = 0;  // 1-based; 0: no place in a file
  std::string message;       // "unknown key 'num_env_runer' in rollout; did you mean 'num_env_runners'?"
  std::string source_line;   // the text of that line; empty when there is none, and after the first kShownErrors
  ErrorCode code = ErrorCode::kOther;
};
// So many of a file's errors are printed; of the rest people are told the number.
inline constexpr size_t kShownErrors = 50;
// "configs/walk.yaml:14:7: error: ...", the source line in at most 200 columns and a caret; fit for a terminal whatever the
// file holds.
std::string Format(const Diagnostic& diagnostic);

class Errors {
 public:
  Errors() = default;
  // Of one point of many, to be given to AddNewPlaces of `all`, which outlives it. NULL: nobody reads them, only whether there
  // are any.
  static Errors OfOnePoint(const Errors* all) { return Errors(all, all == nullptr); }

  void Add(const Mark& mark, std::string message, ErrorCode code = ErrorCode::kOther);
  // Concerns a file as a whole, such as one that cannot be opened.
  void AddFile(const std::string& file, std::string message);
  // What is no error, but should be known: said once, however often it is noted.
  void Note(const Mark& mark, const std::string& message);
  const std::vector<std::string>& notes() const { return notes_; }
  // Adds the errors and notes of `other`.
  void Append(const Errors& other);
  // Adds those of `other` whose place has none yet: what is wrong with one line of a sweep is wrong at many of its points. And
  // its notes.
  void AddNewPlaces(const Errors& other);
  bool empty() const { return found_.empty(); }
  size_t size() const { return found_.size(); }
  // Whether an error there is worth a suggestion, as looking for the nearest name takes time: not if nobody reads it, if that
  // place has an error of another point already, or if so much is wrong that nobody looks at what a further sentence suggests.
  bool WantsHint(const Mark& mark) const;
  // In file order: the experiment file, its bases, the overrides. The same error at the same place is listed once.
  std::vector<Diagnostic> Sorted() const;

 private:
  Errors(const Errors* all, bool unread) : all_(all), unread_(unread) {}

  struct Found {
    Mark mark;
    std::string file;  // where there is no mark
    std::string message;
    ErrorCode code = ErrorCode::kOther;
    int order() const { return !file.empty() ? -1 : mark.source ? mark.source->order : 0; }
  };
  std::vector<Found> found_;
  std::vector<std::string> notes_;
  std::set<std::string> noted_;                 // the same
  std::set<std::tuple<int, int, int>> places_;  // order, line and column, of those that AddNewPlaces took
  const Errors* all_ = nullptr;
  bool unread_ = false;
};

}  // namespace backplane
