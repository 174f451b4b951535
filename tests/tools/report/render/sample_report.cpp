// Writes the report of a fictitious batch for visual checks: sample_report FOLDER [SETTINGS].
#include <cstdio>
#include <exception>
#include <string>

#include "render/write_report.hpp"
#include "sample_document.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [SETTINGS]\n", argv[0]);
    return 2;
  }
  try {
    const size_t settings = argc > 2 ? std::stoul(argv[2]) : 8;
    const backplane::WrittenReport report = backplane::WriteReport(backplane::LargeDocument(settings), argv[1]);
    for (const std::filesystem::path& file : report.files) {
      std::printf("%s\n", file.c_str());
    }
    for (const std::string& note : report.notes) {
      std::printf("%s\n", note.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
