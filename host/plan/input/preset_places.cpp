#include "input/preset_places.hpp"

#include "machine/gpus.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {

std::filesystem::path OwnPresetFolder() { return OwnShare() / "presets"; }

PresetSearch PresetsFor(const FileArgs& args) {
  const auto device = []() -> std::optional<PresetDevice> {
    const std::vector<Gpu> gpus = OwnGpus();
    return gpus.empty() ? std::nullopt : std::optional(PresetDevice{gpus.front().name, gpus.front().memory_bytes});
  };
  return {args.preset, {OwnPresetFolder()}, device};
}

}  // namespace backplane
