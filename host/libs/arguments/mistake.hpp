// Explains a wrong command line: the wrong word, and the line that was probably meant.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/suggest.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace backplane {

// Translates words of other tools. Each function may be empty.
struct Meanings {
  // Returns "run FILE" for "train"; empty: the word is unknown.
  std::function<std::string(const std::string& word)> command;
  // Returns the experiment file that the words mean, such as "configs/a/b.yaml" for `--algo a --env B-v1`.
  std::function<std::string(const std::vector<std::string>& words)> file;
  // Returns the words that replace an option and its value, such as {"--set", "sweep.seeds.n=3"} for `--seeds 3`. It may
  // change the other words, too.
  std::function<std::vector<std::string>(const std::string& name, const std::string& value, std::vector<std::string>* others)>
      option;
  // Returns the names that `--set` accepts with these words.
  std::function<std::vector<Candidate>(const std::vector<std::string>& words)> names_to_set;
};

struct Mistake {
  std::string what;
  std::string hint;  // the line to type, without the program; empty: none
};

// Absent: the error has a different cause.
std::optional<Mistake> FindMistake(const CLI::App& root, const std::vector<std::string>& words, const Meanings& meant,
                                   const CLI::ParseError& error);

// "config check " of a line that begins with these words.
std::string CommandTyped(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace backplane
