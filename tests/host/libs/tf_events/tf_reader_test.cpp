// Reads back the writer's files. end_to_end/event_reader_test.py reads files of TensorFlow and PyTorch.
#include "tf_events/tf_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "tf_events/tf_events.hpp"

namespace backplane {
namespace {

class TfReader : public testing::Test {
 protected:
  ~TfReader() override { std::filesystem::remove(file_); }

  void Append(const std::string& bytes) { std::ofstream(file_, std::ios::binary | std::ios::app) << bytes; }
  std::string Read() {
    std::ostringstream text;
    reader_.Read([&](const TfValue& value) { text << value.tag << '@' << value.step << '=' << value.value << ' '; });
    return text.str();
  }

  std::filesystem::path file_{std::filesystem::path(testing::TempDir()) / ("tf_reader_" + std::to_string(getpid()))};
  TfEventReader reader_{file_};
};

TEST_F(TfReader, ReadsRecordsSinceTheLastTime) {
  EXPECT_EQ(Read(), "") << "no such file yet";
  Append(TfFileVersion(1.0) + TfScalar(2.0, 3, "a/b", 1.5f));
  EXPECT_EQ(Read(), "a/b@3=1.5 ");
  EXPECT_EQ(Read(), "");
  Append(TfScalar(2.0, 4, "a/b", -2) + TfSessionStart(3.0, 5) + TfScalar(2.0, 0, "c", 0));
  EXPECT_EQ(Read(), "a/b@4=-2 c@0=0 ");
}

TEST_F(TfReader, WaitsForWholeRecords) {
  const std::string record = TfScalar(2.0, 3, "tag", 1);
  for (size_t i = 0; i + 1 < record.size(); ++i) {
    Append(record.substr(i, 1));
    ASSERT_EQ(Read(), "") << i;
  }
  Append(record.substr(record.size() - 1));
  EXPECT_EQ(Read(), "tag@3=1 ");
  EXPECT_EQ(reader_.damage(), "");
}

TEST_F(TfReader, StopsAtDamage) {
  std::string damaged = TfScalar(2.0, 2, "b", 1);
  damaged[20] ^= 1;
  Append(TfScalar(2.0, 1, "a", 1) + damaged + TfScalar(2.0, 3, "c", 1));
  EXPECT_EQ(Read(), "a@1=1 ");
  EXPECT_NE(reader_.damage().find("its checksum is wrong"), std::string::npos) << reader_.damage();
  EXPECT_EQ(Read(), "");
}

TEST_F(TfReader, RejectsOtherFiles) {
  Append("This is a text of more than twelve bytes.");
  EXPECT_EQ(Read(), "");
  EXPECT_NE(reader_.damage().find("not an event file"), std::string::npos) << reader_.damage();
}

TEST_F(TfReader, ManyRecordsAndLargeOnesAreRead) {
  std::string many;
  for (int i = 0; i < 50000; ++i) many += TfScalar(2.0, i, "name", 1);
  Append(many + TfScalar(2.0, 1, std::string(3 << 20, 't'), 2) + TfScalar(2.0, 7, "last", 1));
  size_t read = 0;
  std::string last;
  reader_.Read([&](const TfValue& value) { ++read, last = value.tag; });
  EXPECT_EQ(read, 50002u);
  EXPECT_EQ(last, "last");
  EXPECT_EQ(reader_.damage(), "");
}

// A scalar of TensorFlow 2: a tensor of one float, in each field that may contain it.
TEST(TfScalars, AreTensorsOfOneNumberToo) {
  const auto values = [](const std::string& tensor) {
    std::string item = std::string("\x0a\x01x\x42", 4) + static_cast<char>(tensor.size()) + tensor;
    std::string summary = std::string("\x0a") + static_cast<char>(item.size()) + item;
    std::vector<double> found;
    ForEachScalar(std::string("\x10\x05\x2a", 3) + static_cast<char>(summary.size()) + summary, [&](const TfValue& value) {
      EXPECT_EQ(value.step, 5);
      found.push_back(value.value);
    });
    return found;
  };
  const std::string one_and_a_half("\x00\x00\xc0\x3f", 4), of_double("\x00\x00\x00\x00\x00\x00\xf8\x3f", 8);
  EXPECT_EQ(values(std::string("\x08\x01\x12\x00\x22\x04", 6) + one_and_a_half), std::vector<double>{1.5});
  EXPECT_EQ(values(std::string("\x08\x01\x2a\x04", 4) + one_and_a_half), std::vector<double>{1.5});
  EXPECT_EQ(values(std::string("\x08\x01\x2d", 3) + one_and_a_half), std::vector<double>{1.5});
  EXPECT_EQ(values(std::string("\x08\x02\x22\x08", 4) + of_double), std::vector<double>{1.5});
  EXPECT_EQ(values(std::string("\x08\x01\x2a\x08", 4) + one_and_a_half + one_and_a_half), std::vector<double>{})
      << "a histogram";
  EXPECT_EQ(values(std::string("\x08\x07\x42\x01y", 5)), std::vector<double>{}) << "a text";
}

}  // namespace
}  // namespace backplane
