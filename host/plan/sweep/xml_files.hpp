// The files that an XML model names: other models that it includes or attaches, meshes, textures, height fields.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace backplane {

inline constexpr size_t kMaxXmlFiles = 2000;

// Returns every file that `file` names in an attribute `file`, `filename` or `file...` (`fileright`), and every file that
// those XML files name in turn. Paths start at the folder of `file`; an absolute name stays absolute. Relative names are tried
// in the folder of the model and of the file that contains them. They are also tried in the folders below these that an
// element `compiler` names (`meshdir`, `texturedir`, `assetdir`). Every such file that exists counts. Stops after kMaxXmlFiles
// + 1.
std::map<std::string, std::filesystem::path> FilesNamedByXml(const std::filesystem::path& file);

}  // namespace backplane
