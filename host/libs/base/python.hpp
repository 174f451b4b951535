// The Python with the packages that draw figures, and programs next to this one.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// BACKPLANE_PYTHON, else the interpreter in lib/backplane/python.json of the installation, else of the nearest folder above
// this program its .venv/bin/python or the Python whose packages it holds, else python3 of PATH.
std::string FindPython();

// In the folder of this program, or in `bin` next to it; empty: not found.
std::filesystem::path BesideProgram(const std::string& name);

// "run `/usr/bin/python3 -m pip install NAMES`, or set BACKPLANE_PYTHON to a different Python". `python` empty: FindPython().
std::string PipHint(const std::string& names, const std::string& python = "");

}  // namespace backplane
