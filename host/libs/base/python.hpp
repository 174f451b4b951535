// The Python with the packages that draw figures, and programs next to this one.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// BACKPLANE_PYTHON; else, from the nearest folder above this program, .venv/bin/python or the Python whose packages contain it;
// else python3 on PATH.
std::string FindPython();

// In the folder of this program, or in `bin` next to it; empty: not found.
std::filesystem::path BesideProgram(const std::string& name);

inline constexpr char kInstallFigures[] =
    "run scripts/bootstrap, or install the Python package vl-convert-python and set BACKPLANE_PYTHON to its Python";

}  // namespace backplane
