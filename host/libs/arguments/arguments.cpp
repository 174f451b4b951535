#include "arguments/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/shell_argument.hpp"

namespace backplane {

template <class Number>
Argument& Argument::Within(Number least, Number most) {
  option_->description(fmt::format("{} ({} .. {})", option_->get_description(), least, most));
  option_->check(
      [least, most](const std::string& text) {
        Number value{};
        const bool is_within = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return is_within ? "" : fmt::format("expected {} .. {}, got {}", least, most, text);
      },
      "");
  return *this;
}
template Argument& Argument::Within(unsigned, unsigned);
template Argument& Argument::Within(uint64_t, uint64_t);
template Argument& Argument::Within(double, double);

Argument& Argument::OneOf(std::vector<std::string> words) {
  CLI::Validator member = CLI::IsMember(words);  // completion reads the words in its description
  member.operation([words = std::move(words)](const std::string& text) {
    const bool is_one = std::find(words.begin(), words.end(), text) != words.end();
    return is_one ? "" : fmt::format("expected {}, got '{}'", fmt::join(words, ", "), text);
  });
  option_->check(member);
  return *this;
}

Argument& Argument::Required() {
  option_->required();
  return *this;
}

Argument& Argument::Optional() {
  option_->required(false);
  return *this;
}

Argument& Argument::ShowsDefault() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::ShowsDefault(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Argument& Argument::MayBeEmpty() {
  option_->expected(0, 1);
  return *this;
}

Argument& Argument::Excludes(const Argument& other) {
  option_->excludes(other.option_);
  return *this;
}

Argument& Argument::Needs(const Argument& other) {
  option_->needs(other.option_);
  return *this;
}

Argument& Argument::Hidden() {
  option_->group("");
  return *this;
}

Arguments::Arguments(CLI::App* app, std::string program) : app_(app), program_(std::move(program)) {}

std::string Arguments::command() const {
  const CLI::App* above = app_->get_parent();
  return (above && above->get_parent() ? above->get_name() + " " : "") + app_->get_name();
}

void Arguments::RunChecks() const {
  for (const auto& check : checks_) check();
}

Argument Arguments::Flag(const char* name, bool* target, const char* help) {
  return Argument(app_->add_flag(name, *target, help));
}

template <class T>
Argument Arguments::Add(const char* name, const char* type, T* target, const std::string& help) {
  CLI::Option* option = app_->add_option(name, *target, help)->type_name(type);
  constexpr bool kIsList = requires { target->push_back({}); }
  &&!requires { target->c_str(); };
  if (kIsList && !option->get_positional()) option->allow_extra_args(false);
  return Argument(option);
}
template Argument Arguments::Add(const char*, const char*, std::string*, const std::string&);
template Argument Arguments::Add(const char*, const char*, std::filesystem::path*, const std::string&);
template Argument Arguments::Add(const char*, const char*, std::vector<std::string>*, const std::string&);
template Argument Arguments::Add(const char*, const char*, std::vector<std::filesystem::path>*, const std::string&);
template Argument Arguments::Add(const char*, const char*, uint64_t*, const std::string&);
template Argument Arguments::Add(const char*, const char*, double*, const std::string&);
template Argument Arguments::Add(const char*, const char*, std::optional<unsigned>*, const std::string&);

Argument Arguments::Add(const char* name, const char* type, const char* help,
                        std::function<std::string(const std::string&)> read) {
  auto text = std::make_shared<std::string>();
  CLI::Option* option = app_->add_option(name, *text, help)->type_name(type);
  checks_.push_back([=] {
    const std::string why_not = option->count() > 0 ? read(*text) : "";
    if (!why_not.empty()) throw CLI::ValidationError(name, why_not);
  });
  return Argument(option);
}

void Arguments::Check(std::function<std::string()> why_not) {
  checks_.push_back([name = app_->get_name(), why_not] {
    if (const std::string why = why_not(); !why.empty()) throw CLI::ValidationError(name, why);
  });
}

void Arguments::PluginPath(std::vector<std::string>* target) {
  Add("--plugin-path", "DIR", target, "Further folder with plugins; may be repeated");
}

Argument Arguments::Out(std::filesystem::path* target, const char* help) {
  const Argument out = Add("out", "OUT", target, help).Required();
  Check([this_command = program_ + " " + command(), target]() -> std::string {
    std::error_code error;
    const std::filesystem::path other = std::filesystem::path("outputs") / *target;
    if (target->empty() || std::filesystem::exists(*target, error) || !std::filesystem::is_directory(other, error)) return "";
    return fmt::format("there is no folder '{}'\nhint: {} {}", target->string(), this_command, ShellArgument(other.string()));
  });
  return out;
}

}  // namespace backplane
