#include "cli/parse.hpp"

int main(int argc, char** argv) { return backplane::Main(argc, argv); }
