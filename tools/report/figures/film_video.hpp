// A film as a .gif or a .webm, by the Python program backplane-film.py.
#pragma once

#include <filesystem>
#include <string>

#include "record/film.hpp"

namespace backplane {

// Frames are put into `scratch`, a folder that is there. Throws std::runtime_error with a sentence: a wheel or ffmpeg is
// missing.
void WriteFilmVideo(const Film& film, const std::string& title, const std::filesystem::path& scratch,
                    const std::filesystem::path& to);

}  // namespace backplane
