// Renders a film as a .gif or .webm with the Python program backplane-film.py.
#pragma once

#include <filesystem>
#include <string>

#include "record/film.hpp"

namespace backplane {

// Writes frames to `scratch`, an existing folder. Throws std::runtime_error if a wheel or ffmpeg is missing.
void WriteFilmVideo(const Film& film, const std::string& title, const std::filesystem::path& scratch,
                    const std::filesystem::path& to);

}  // namespace backplane
