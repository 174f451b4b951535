// The bytes of TensorBoard's event files, compared with known ones, so the test does not need TensorBoard.
#include "tf_events/tf_events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace backplane {
namespace {

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string FileText(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class EventFile : public testing::Test {
 protected:
  ~EventFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_{std::filesystem::path(testing::TempDir()) / ("tf_events_" + std::to_string(getpid()))};
};

TEST(TfRecords, FirstRecordIsTheVersion) {
  EXPECT_EQ(Hex(TfFileVersion(1.0)), "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
}

TEST(TfRecords, AScalarIsASummaryWithOneSimpleValue) {
  EXPECT_EQ(Hex(TfScalar(2.0, 3, "a/b", 1.5f)),
            "19000000000000008bf10828090000000000000040"
            "10032a0c0a0a0a03612f62150000c03fdf9f3d80");
}

TEST(TfRecords, ASessionStartHasItsStep) {
  const std::string record = Hex(TfSessionStart(1.0, 300));
  EXPECT_EQ(record.substr(24, record.size() - 32), "09000000000000f03f10ac023a020801");
}

TEST(TfRecords, NegativeStepHasTenBytesAndZeroNone) {
  constexpr size_t kFrame = 16, kTime = 9;
  EXPECT_EQ(TfSessionStart(1.0, -1).size(), kFrame + kTime + 1 + 10 + 4);
  EXPECT_EQ(TfSessionStart(1.0, 0).size(), kFrame + kTime + 4);
}

TEST(TfFileName, LaterFilesComeLaterByName) {
  EXPECT_LT(TfFileName(999999999, 2), TfFileName(1732219200, 1));
  EXPECT_LT(TfFileName(1732219200, 9), TfFileName(1732219200, 10));
  EXPECT_NE(TfFileName(1, 1).find("tfevents"), std::string::npos) << "the name by which TensorBoard finds it";
}

TEST_F(EventFile, HoldsWholeRecordsAfterAFlush) {
  const std::filesystem::path file = folder_ / "run" / TfFileName(1.0, 1);
  TfEventFile events(file, 1.0);
  events.SessionStart(2.0, 64);
  events.Scalar(2.0, 64, "train/loss", 0.5);
  events.Flush();
  EXPECT_EQ(FileText(file), TfFileVersion(1.0) + TfSessionStart(2.0, 64) + TfScalar(2.0, 64, "train/loss", 0.5f));
}

TEST_F(EventFile, AddsSpeedAndReturnUnderNamesOfOtherDashboards) {
  TfEventFile events(folder_ / "f", 1.0);
  events.Scalar(2.0, 8, "sps", 100);
  events.Scalar(2.0, 8, "return", 3);
  events.Flush();
  EXPECT_EQ(FileText(folder_ / "f"), TfFileVersion(1.0) + TfScalar(2.0, 8, "sps", 100) + TfScalar(2.0, 8, "charts/SPS", 100) +
                                         TfScalar(2.0, 8, "return", 3) + TfScalar(2.0, 8, "charts/episodic_return", 3));
}

TEST_F(EventFile, NamesAFileThatCannotBeWritten) {
  try {
    const TfEventFile file(std::filesystem::path("/proc/self/nowhere") / "f", 1.0);
    FAIL() << "opened";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/self/nowhere"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace backplane
