#include "config/loader.hpp"

#include "config/resolver.hpp"

namespace backplane {

LoadResult LoadExperiment(const std::filesystem::path& file, const LoadOptions& options) {
  Errors errors;
  std::optional<ExperimentText> text = ReadExperimentText(file, options.set, options.presets, &errors);
  if (!text) return {std::nullopt, errors.Sorted()};
  Resolver resolver(std::move(text->root), std::move(text->preset.values), std::move(text->set),
                    std::make_shared<PluginTables>(options.lookup));
  ReadPoint point = resolver.Read({}, &errors);
  if (!errors.empty()) return {std::nullopt, errors.Sorted()};
  LoadResult result{Resolver::Build(std::move(point)), {}};
  result.loaded->notes = errors.notes();
  if (!text->preset.note.empty()) result.loaded->notes.push_back(text->preset.note);
  return result;
}

}  // namespace backplane
