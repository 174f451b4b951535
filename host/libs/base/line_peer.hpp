// The lines that this process exchanges with a program that it started. Never waits for a program that does not read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/pipe.hpp"

namespace backplane {

class LinePeer {
 public:
  int theirs() const { return sockets_.theirs(); }  // for the program to inherit
  void CloseTheirs() { sockets_.CloseTheirs(); }

  // Sends as much as fits now and the rest in later calls. False: the program has closed its end.
  bool Send(std::string_view text);
  enum class Heard { kNothing = 1, kSome, kEnd };
  // Waits at most this long for bytes. kEnd: the program has closed its end.
  Heard Listen(int timeout_ms);
  // The next whole line, without its end.
  std::optional<std::string> Next();
  const std::string& unread() const { return unread_; }  // after Next: an incomplete line
  // The program reads the end of its input.
  void EndInput();

 private:
  SocketPair sockets_;
  std::string unsent_, unread_;
};

}  // namespace backplane
