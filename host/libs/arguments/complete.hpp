// Completion of a command line: `backplane complete WORD...`, which the shells call.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace backplane {

struct Offer {
  std::string word, help = "";
};
using Offers = std::vector<Offer>;

// The words before, and the one that is begun.
struct TypedLine {
  std::vector<std::string> words;
  std::string begun;
};

// Offers values of a type, such as "FILE".
using ValueOffers = std::function<Offers(const std::string& type, const TypedLine& line)>;

// Offers the files accepted by `wants` in the typed folder, and folders. A folder ends with '/' unless `wants` accepts it too.
Offers PathOffers(const TypedLine& line, const std::function<bool(const std::filesystem::path&)>& wants);
Offers WordOffers(const std::vector<std::string>& words);
std::vector<std::string> SplitWords(const std::string& text, char at);

// Prints a line "WORD\tHELP" for each word that can replace the last of `words`. A word that ends with '/' or '=' is
// incomplete. Commands and options come from `root`; the values of an option follow from its type in --help.
void PrintCompletions(const CLI::App& root, const std::vector<std::string>& words, const ValueOffers& values);

}  // namespace backplane
