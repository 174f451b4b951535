// A folder tree that looks like /proc and its mounts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace backplane {

class FakeMachine : public ::testing::Test {
 protected:
  FakeMachine() { std::filesystem::remove_all(root_); }
  ~FakeMachine() override { std::filesystem::remove_all(root_); }

  void Put(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::filesystem::path proc() const { return root_ / "proc"; }
  std::filesystem::path self() const { return root_ / "proc/self"; }

  // The folders of the groups are in "v2" and "v1".
  void IsInVersion2(const std::string& group, const std::string& controllers = "cpu memory") {
    Put("proc/self/cgroup", "0::" + group + "\n");
    Put("proc/self/mountinfo", Version2Mount());
    Put("v2/cgroup.controllers", controllers + "\n");
  }
  void IsInVersion1(const std::string& group) {
    Put("proc/self/cgroup", Version1Line(group));
    Put("proc/self/mountinfo", Version1Mount());
  }
  // All controllers in v1; v2 is mounted as well and contains the process too.
  void IsInHybrid(const std::string& group) {
    IsInVersion2(group, "");
    Put("proc/self/cgroup", Version1Line(group) + "0::" + group + "\n");
    Put("proc/self/mountinfo", Version2Mount() + Version1Mount());
  }

  // The files of /proc/PID that this project reads. Its threads are `pid` and the following numbers.
  void Process(int pid, int parent, double cpu_ticks, const std::string& name = "trial") {
    const std::string folder = "proc/" + std::to_string(pid);
    Put(folder + "/stat", std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " +
                              std::to_string(static_cast<long>(cpu_ticks)) + " 0 0 0 20 0 1 0 0\n");
    Put(folder + "/status", "Name:\t" + name + "\nVmHWM:\t    4096 kB\nVmRSS:\t    2048 kB\nThreads:\t2\n");
  }
  void Thread(int pid, int thread, double waited_s, const std::string& children = "") {
    const std::string folder = "proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
    Put(folder + "/schedstat", "5 " + std::to_string(static_cast<long>(waited_s * 1e9)) + " 3\n");
    Put(folder + "/children", children);
  }

  std::filesystem::path root_ = std::filesystem::path(::testing::TempDir()) / ("fake_machine_" + std::to_string(getpid()));

 private:
  std::string Version2Mount() const { return "30 23 0:26 / " + (root_ / "v2").string() + " rw - cgroup2 cgroup2 rw\n"; }
  std::string Version1Mount() const {
    return "31 23 0:27 / " + (root_ / "v1").string() + " rw - cgroup cgroup rw,cpu,cpuacct,memory\n";
  }
  static std::string Version1Line(const std::string& group) { return "4:cpu,cpuacct,memory:" + group + "\n"; }
};

}  // namespace backplane
