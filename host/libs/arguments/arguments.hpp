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
  Argument& MayBeEmpty();                           // accepts the name without a value
  Argument& Excludes(const Argument& other);
  Argument& Needs(const Argument& other);
  Argument& Hidden();  // for programs: absent from --help and completion

 private:
  CLI::Option* option_;
};

class Arguments {
 public:
  // `program` is the program's name as typed.
  Arguments(CLI::App* app, std::string program);

  const std::string& program() const { return program_; }
  std::string command() const;  // "config check"
  // Throws the errors of `Check` and of text readers as CLI11 exceptions. Call it when all targets are filled.
  void RunChecks() const;

  // Positional: a name without dashes. Named: "--json", for which `Flag` accepts no value. --help shows `type` as the value. A
  // vector collects the values of repeated names, or all values at its position.
  Argument Flag(const char* name, bool* target, const char* help);
  template <class T>
  Argument Add(const char* name, const char* type, T* target, const std::string& help);
  // A text converted by `read`, which returns an error or an empty text.
  Argument Add(const char* name, const char* type, const char* help, std::function<std::string(const std::string&)> read);

  // A check of all arguments together once they are filled in. Returns an error, or an empty text.
  void Check(std::function<std::string()> why_not);

  // Arguments shared by several commands.
  void PluginPath(std::vector<std::string>* target);
  Argument Out(std::filesystem::path* target, const char* help = "Results folder of an experiment");

 private:
  CLI::App* app_;
  std::string program_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace backplane
