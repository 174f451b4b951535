#include "base/line_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/files.hpp"
#include "support/file_size_limit.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

class LineFileTest : public testing::Test {
 protected:
  ~LineFileTest() override { std::filesystem::remove(path_); }
  std::string Text() const { return ReadFile(path_).value_or("none"); }
  std::string ErrorOf(const std::function<void()>& call) {
    try {
      call();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("line_file_test_" + std::to_string(getpid()) + ".jsonl");
};

TEST_F(LineFileTest, AppendsAndCutsATornLineOff) {
  std::ofstream(path_) << "one\ntor";
  LineFile file(path_);
  file.Append("two\n");
  file.Append("three\nfour\n");
  file.Sync();
  EXPECT_EQ("one\ntwo\nthree\nfour\n", Text());
}

TEST_F(LineFileTest, LineThatDoesNotFitIsRemovedWithTheSystemsReason) {
  LineFile file(path_);
  file.Append("first\n");
  {
    const FileSizeLimit limit(10);
    const std::string error = ErrorOf([&] { file.Append("second line\n"); });
    EXPECT_EQ("cannot write " + path_.string() + ": " + std::strerror(EFBIG), error);
    EXPECT_EQ("first\n", Text()) << "its first four bytes did fit";
    EXPECT_NE("", ErrorOf([&] { file.AppendAndSync("third line\n"); }));
  }
  file.AppendAndSync("fourth\n");
  EXPECT_EQ("first\nfourth\n", Text());
}

TEST_F(LineFileTest, NamesAFileThatCannotBeOpened) {
  EXPECT_THAT(ErrorOf([] { LineFile("/no/such/folder/file"); }),
              HasSubstr("cannot open /no/such/folder/file: No such file or directory"));
}

}  // namespace
}  // namespace backplane
