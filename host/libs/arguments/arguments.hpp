// Declarations of a command's arguments: each once, with the member that it fills.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace backplane {

// One that was declared; its rules can be added.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  template <class Number>
  Argument& Within(Number least, Number most);  // both included
  Argument& OneOf(std::vector<std::string> words);
  Argument& Required();
  Argument& Optional();
  Argument& ShowsDefault();                         // the member's present value, in --help
  Argument& ShowsDefault(const std::string& text);  // this
  Argument& MayBeEmpty();                           // the name alone may be given
  Argument& Excludes(const Argument& other);
  Argument& Needs(const Argument& other);
  Argument& Hidden();  // for programs: neither --help nor completion shows it

 private:
  CLI::Option* option_;
};

class Arguments {
 public:
  // `program` is the program's name as typed.
  Arguments(CLI::App* app, std::string program);

  const std::string& program() const { return program_; }
  std::string command() const;  // "config check"
  // What `Check` and readers of texts have to say, as an exception of CLI11. To be called when all is filled in.
  void RunChecks() const;

  // By its place: a name without dashes. By its name: "--json", of which `Flag` takes no value. `type` is what --help calls the
  // value. A vector takes one value each time the name is given, or all that stand at its place.
  Argument Flag(const char* name, bool* target, const char* help);
  template <class T>
  Argument Add(const char* name, const char* type, T* target, const std::string& help);
  // A text that `read` converts if it is given; `read` returns an error, or an empty text.
  Argument Add(const char* name, const char* type, const char* help, std::function<std::string(const std::string&)> read);

  // A check of all arguments together once they are filled in. Returns an error, or an empty text.
  void Check(std::function<std::string()> why_not);

  // Arguments that several commands take.
  void PluginPath(std::vector<std::string>* target);
  Argument Out(std::filesystem::path* target, const char* help = "Results folder of an experiment");

 private:
  CLI::App* app_;
  std::string program_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace backplane
