// The files that an XML model names: other models that it includes or attaches, meshes, textures, height fields.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace backplane {

inline constexpr size_t kMaxXmlFiles = 2000;

// Every file that `file` names in an attribute `file`, `filename` or `file...` (`fileright`), and every file that those XML
// files name in turn, by its path from the folder of `file`; an absolute name stays absolute. A relative name starts at the
// folder of the model or of the file that it stands in, or at a folder below it that an element `compiler` names (`meshdir`,
// `texturedir`, `assetdir`); every such file that exists counts. Stops after kMaxXmlFiles + 1.
std::map<std::string, std::filesystem::path> FilesNamedByXml(const std::filesystem::path& file);

}  // namespace backplane
