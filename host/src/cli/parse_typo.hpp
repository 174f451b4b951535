// What a mistyped command line was meant to be.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace backplane {

// The sentence for a mistyped command or option; empty if the error is another one. CLI11 only says "A subcommand is required".
std::string ExplainTypo(const CLI::App& root, int argc, char** argv);

}  // namespace backplane
