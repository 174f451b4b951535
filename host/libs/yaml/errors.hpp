// Collects all errors of a configuration, so that they are reported together.
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
  std::string source_line;   // text of that line; empty if unknown, and after the first kShownErrors
  ErrorCode code = ErrorCode::kOther;
  std::string hint = "";  // a key or a command to paste; empty: none
};
// The number of a file's errors that are printed; the others are counted.
inline constexpr size_t kShownErrors = 50;
// "configs/walk.yaml:14:7: error: ...", the source line in at most 200 columns and a caret; safe for terminals whatever the
// file contains.
std::string Format(const Diagnostic& diagnostic);

class Errors {
 public:
  Errors() = default;
  // For one of many points, for AddNewPlaces of `all`, which must outlive it. NULL: only empty() is used.
  static Errors OfOnePoint(const Errors* all) { return Errors(all, all == nullptr); }

  void Add(const Mark& mark, std::string message, ErrorCode code = ErrorCode::kOther, std::string hint = "");
  // Concerns a file as a whole, such as one that cannot be opened.
  void AddFile(const std::string& file, std::string message);
  // A note, which is not an error: printed once, even if it is added repeatedly.
  void Note(const Mark& mark, const std::string& message);
  const std::vector<std::string>& notes() const { return notes_; }
  // Adds the errors and notes of `other`.
  void Append(const Errors& other);
  // Adds the notes of `other`, and its errors at new places, because an error in one line of a sweep occurs at many points.
  void AddNewPlaces(const Errors& other);
  bool empty() const { return found_.empty(); }
  size_t size() const { return found_.size(); }
  // True if an error there deserves a suggestion, which is slow to compute. False if it is not shown, if another point has an
  // error at that place, or after very many errors.
  bool WantsHint(const Mark& mark) const;
  // In file order: the experiment file, its bases, the overrides. The same error at the same place is listed once.
  std::vector<Diagnostic> Sorted() const;

 private:
  Errors(const Errors* all, bool unread) : all_(all), unread_(unread) {}

  struct Found {
    Mark mark;
    std::string file;  // if there is no mark
    std::string message;
    ErrorCode code = ErrorCode::kOther;
    std::string hint = "";
    int order() const { return !file.empty() ? -1 : mark.source ? mark.source->order : 0; }
  };
  std::vector<Found> found_;
  std::vector<std::string> notes_;
  std::set<std::string> noted_;                 // the same
  std::set<std::tuple<int, int, int>> places_;  // order, line and column of the errors from AddNewPlaces
  const Errors* all_ = nullptr;
  bool unread_ = false;
};

}  // namespace backplane
