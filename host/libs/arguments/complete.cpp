#include "arguments/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "arguments/find_option.hpp"
#include "base/printable.hpp"

namespace backplane {
namespace {

// A type such as "SHELL:{bash,zsh,fish}" lists its words.
Offers ValuesOf(const CLI::Option& option, const TypedLine& line, const ValueOffers& values) {
  const std::string type = option.get_type_name();
  const size_t brace = type.find('{'), end = type.find('}');
  if (brace < end && end != std::string::npos) return WordOffers(SplitWords(type.substr(brace + 1, end - brace - 1), ','));
  return values ? values(type, line) : Offers();
}

bool TakesValue(const CLI::Option* option) { return option != nullptr && option->get_items_expected_max() > 0; }

Offers SubcommandsOf(const CLI::App& app) {
  Offers offers;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    offers.push_back({command->get_name(), command->get_description()});
  return offers;
}

Offers OptionsOf(const CLI::App& app) {
  Offers offers;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    for (const std::string& name : option->get_lnames()) offers.push_back({"--" + name, option->get_description()});
  }
  return offers;
}

// The positional value at this index; a repeatable one matches all further positions.
Offers ValueAt(const CLI::App& app, size_t place, const TypedLine& line, const ValueOffers& values) {
  const std::vector<const CLI::Option*> places = app.get_options([](const CLI::Option* o) { return o->get_positional(); });
  size_t first = 0;
  for (const CLI::Option* option : places) {
    const bool is_list = option->get_items_expected_max() > 1;
    if (is_list || place == first++) return ValuesOf(*option, line, values);
  }
  return {};
}

Offers OffersFor(const CLI::App& root, const TypedLine& line, const ValueOffers& values) {
  const CLI::App* at = &root;
  size_t place = 0;
  for (size_t i = 0; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    const CLI::App* below = CommandCalled(*at, word);
    if (at == &root && word == "help") continue;
    if (below != nullptr) {
      at = below, place = 0;
    } else if (!word.starts_with('-')) {
      ++place;
    } else if (const CLI::Option* option = OptionCalled(*at, word); TakesValue(option) && word.find('=') == std::string::npos) {
      if (i + 1 == line.words.size()) return ValuesOf(*option, line, values);
      ++i;
    }
  }
  if (line.begun.starts_with('-')) {
    const size_t equals = line.begun.find('=');
    const CLI::Option* option = equals == std::string::npos ? nullptr : OptionCalled(*at, line.begun);
    if (!TakesValue(option)) return OptionsOf(*at);
    Offers offers = ValuesOf(*option, {line.words, line.begun.substr(equals + 1)}, values);
    for (Offer& offer : offers) offer.word.insert(0, line.begun.substr(0, equals + 1));
    return offers;
  }
  Offers offers = ValueAt(*at, place, line, values);
  if (place > 0) return offers;
  for (Offer& command : SubcommandsOf(*at)) offers.push_back(std::move(command));
  return offers;
}

}  // namespace

std::vector<std::string> SplitWords(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

Offers PathOffers(const TypedLine& line, const std::function<bool(const std::filesystem::path&)>& wants) {
  const size_t slash = line.begun.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : line.begun.substr(0, slash + 1);
  const bool hidden = line.begun.substr(folder.size()).starts_with('.');
  Offers offers;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.') && !hidden) continue;
    if (it->is_directory(error))
      offers.push_back({folder + name + (wants(it->path()) ? "" : "/")});
    else if (wants(it->path()))
      offers.push_back({folder + name});
  }
  return offers;
}

Offers WordOffers(const std::vector<std::string>& words) {
  Offers offers;
  for (const std::string& word : words) offers.push_back({word});
  return offers;
}

void PrintCompletions(const CLI::App& root, const std::vector<std::string>& words, const ValueOffers& values) {
  TypedLine line{words, ""};
  if (!words.empty()) line.begun = words.back(), line.words.pop_back();
  Offers offers = OffersFor(root, line, values);
  std::erase_if(offers, [&](const Offer& offer) { return !offer.word.starts_with(line.begun); });
  std::ranges::sort(offers, {}, &Offer::word);
  offers.erase(std::unique(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.word == b.word; }),
               offers.end());
  for (const Offer& offer : offers) std::printf("%s\t%s\n", Printable(offer.word).c_str(), Printable(offer.help, 80).c_str());
}

}  // namespace backplane
