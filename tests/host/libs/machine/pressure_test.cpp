#include "machine/pressure.hpp"

#include "host/libs/machine/fake_machine.hpp"

namespace backplane {
namespace {

class PressureTest : public FakeMachine {
 protected:
  double Cpu() const {
    const auto place = FindPressure("cpu", proc());
    return place ? ReadSomeStalled(*place).value_or(-2) : -1;
  }
  static std::string Some(const char* total_us) {
    return std::string("some avg10=8.00 avg60=1.00 avg300=0.00 total=") + total_us +
           "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
  }
};

TEST_F(PressureTest, UsesTheMachineIfTheGroupHasNone) {
  Put("proc/pressure/cpu", Some("12500000"));
  EXPECT_EQ(Cpu(), 12.5);
  IsInVersion1("/a");
  EXPECT_EQ(Cpu(), 12.5);
}

TEST_F(PressureTest, PrefersTheOwnGroup) {
  Put("proc/pressure/cpu", Some("12500000"));
  IsInVersion2("/a");
  Put("v2/a/cpu.pressure", Some("3250000"));
  EXPECT_EQ(Cpu(), 3.25);
}

TEST_F(PressureTest, IsAbsentIfTheKernelLacksIt) {
  EXPECT_EQ(Cpu(), -1);
  std::filesystem::create_directories(proc() / "pressure/cpu");  // opens, but reading fails
  EXPECT_EQ(Cpu(), -1);
}

}  // namespace
}  // namespace backplane
