#include "python_env/workers.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "backplane/errors.hpp"
#include "python_env/worker_spawn.hpp"

namespace backplane::python_env {
namespace {

using std::chrono::milliseconds;

constexpr size_t kTailBytes = 8192;               // of a worker's output that are kept for errors
constexpr size_t kMostLastWords = 2500;           // of the output in an error
constexpr uint64_t kMostLoggedBytes = 64 * 1024;  // of all output of an instance
constexpr auto kGrace = milliseconds(2000);       // to end normally, or to print their stacks
constexpr double kShortestStart_s = 120;          // packages may be on a slow disk

constexpr uint32_t kMostErrorBytes = 64 * 1024;  // of a reply that reports an error
constexpr uint32_t kMostTextBytes = 16 << 20;    // of the description of an env
constexpr size_t kPortion = 1 << 20;             // memory grows with the bytes that have arrived

// The kinds of messages that the programs in worker/ answer with more than an end or an error.
bool HasAnswer(char kind) { return std::string_view("CZGPMD").find(kind) != std::string_view::npos; }

uint32_t MostBytesOfReply(char kind) {
  switch (kind) {
    case 'C': return kMostTextBytes;
    case 'G':
    case 'P': return UINT32_MAX;
    default: return kMostErrorBytes;
  }
}

void DoNotBlock(const File& file) { fcntl(file.fd(), F_SETFL, fcntl(file.fd(), F_GETFL) | O_NONBLOCK); }

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

milliseconds Until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(0));
}

}  // namespace

uint64_t WorkersFor(uint64_t rows) {
  cpu_set_t cores;
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  return std::clamp<uint64_t>(known ? CPU_COUNT(&cores) : 1, 1, std::max<uint64_t>(rows, 1));
}

Workers::Workers(const bp_host* host, const std::string& python, WorkerProgram program, double timeout_s, uint64_t rows,
                 uint64_t n)
    : host_(host),
      program_(std::move(program)),
      notices_(host),
      timeout_s_(timeout_s),
      rows_(rows),
      workers_(n),
      memory_(Checked(memfd_create("rows", MFD_CLOEXEC), "memory shared with the workers")),
      source_(SourceFile(program_.source)) {
  auto life = Pipe();
  life_of_workers_ = std::move(life[0]);
  life_ = std::move(life[1]);
  polled_.reserve(3 * n);
  try {
    for (Worker& worker : workers_) Start(&worker, python);
  } catch (...) {
    End(/*at_once=*/true);
    throw;
  }
}

Workers::~Workers() {
  End(/*at_once=*/false);
  if (unlogged_bytes_ > 0)
    host_->log(host_, BP_LOG_INFO, ("the workers printed " + std::to_string(unlogged_bytes_) + " bytes more").c_str());
  if (shared_ != nullptr) munmap(shared_, shared_bytes_);
}

void Workers::Start(Worker* worker, const std::string& python) {
  auto commands = SocketPair();
  auto replies = Pipe(), output = Pipe();
  worker->tail.reserve(3 * kTailBytes);  // so that steps that print do not allocate
  SpawnSetup setup;
  setup.GiveNothing(STDIN_FILENO);
  setup.Give(output[1], STDOUT_FILENO);
  setup.Give(output[1], STDERR_FILENO);
  setup.Give(commands[1], kCommands);
  setup.Give(replies[1], kReplies);
  setup.Give(memory_, kMemory);
  setup.Give(source_, kSource);
  setup.Give(life_of_workers_, kLife);
  File host_memory;  // a copy, because the host's number may be one of the worker's
  if (program_.host_memory >= 0) {
    host_memory = Checked(dup(program_.host_memory), "memory shared with the host");
    setup.Give(host_memory, kHostMemory);
  }
  worker->pid = setup.Spawn({python, "/proc/self/fd/" + std::to_string(kSource)}, program_.threads);
  // On a kernel without pidfds, only the end of its replies reveals a worker's death.
  worker->process = File(static_cast<int>(syscall(SYS_pidfd_open, worker->pid, 0)));
  worker->commands = std::move(commands[0]);
  worker->replies = std::move(replies[0]);
  worker->output = std::move(output[0]);
  for (const File* file : {&worker->commands, &worker->replies, &worker->output}) DoNotBlock(*file);
}

char* Workers::Share(uint64_t bytes) {
  if (ftruncate(memory_.fd(), static_cast<off_t>(bytes)) != 0) FailWith("memory shared with the workers");
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.fd(), 0);
  if (at == MAP_FAILED) FailWith("memory shared with the workers");
  if (shared_ != nullptr) munmap(shared_, shared_bytes_);
  shared_bytes_ = bytes;
  return shared_ = static_cast<char*>(at);
}

std::vector<std::string> Workers::AskAll(char kind, const std::vector<std::string>& texts) {
  const Clock::time_point end = Deadline(kind == 'C' || kind == 'U' ? kShortestStart_s : 0);
  for (size_t w = 0; w < workers_.size(); ++w) SendText(&workers_[w], kind, texts[w], end);
  Await(end, /*saved=*/kind == 'G');
  std::vector<std::string> answers;
  for (Worker& worker : workers_) answers.push_back(std::move(worker.reply));
  return answers;
}

std::string Workers::Ask(uint64_t worker, char kind, std::string_view text) {
  const Clock::time_point end = Deadline();
  SendText(&workers_.at(worker), kind, text, end);
  Await(end, /*saved=*/kind == 'M');  // a stop does not interrupt a monitor
  return std::move(workers_[worker].reply);
}

void Workers::Run(char kind, uint64_t begin, uint64_t end, const uint8_t* mask) {
  char message[1 + 2 * sizeof(uint64_t)] = {kind};
  std::memcpy(message + 1, &begin, sizeof begin);
  std::memcpy(message + 1 + sizeof begin, &end, sizeof end);
  const Clock::time_point until = Deadline();
  const uint64_t n = workers_.size();
  for (uint64_t w = 0; w < n; ++w) {
    uint64_t row = begin + (w + n - begin % n) % n;  // its first row
    if (mask != nullptr)
      while (row < end && mask[row] == 0) row += n;
    if (row < end) Send(&workers_[w], {message, sizeof message}, until);
  }
  Await(until);
}

Workers::Clock::time_point Workers::Deadline(double at_least_s) const {
  const std::chrono::duration<double> from_now(std::max(timeout_s_, at_least_s));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(from_now);
}

void Workers::SendText(Worker* worker, char kind, std::string_view text, Clock::time_point end) {
  std::string message(1, kind);
  const uint64_t length = text.size();
  message.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
  Send(worker, message, end);
}

void Workers::Send(Worker* worker, std::string_view bytes, Clock::time_point end) {
  if (worker->pid < 0) throw bp::Error(BP_E_INTERNAL, "the workers have ended");
  worker->awaited = true;
  worker->got = 0;
  worker->kind = bytes.front();
  worker->reply.clear();
  while (!bytes.empty()) {
    const ssize_t sent = send(worker->commands.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd room{worker->commands.fd(), POLLOUT, 0};
      if (Until(end).count() == 0) RefuseLate(worker);
      poll(&room, 1, static_cast<int>(std::min<int64_t>(Until(end).count(), 1000)));
      while (ReadOutput(worker)) {  // it might wait for room, too
      }
    } else if (errno != EINTR) {
      RefuseDead(worker);
    }
  }
}

void Workers::Await(Clock::time_point end, bool saved) {
  while (ListAwaited()) {
    // In portions, so that a wish to stop is seen.
    const int ready = poll(polled_.data(), polled_.size(), static_cast<int>(std::min<int64_t>(Until(end).count(), 500)));
    if (ready < 0 && errno != EINTR) FailWith("waiting for the workers");
    for (size_t w = 0; w < workers_.size(); ++w) Serve(w, ready > 0, end);
    if (ready == 0 && !saved && host_->cancelled(host_) != 0) {
      End(/*at_once=*/true);
      throw bp::Error(BP_E_CANCELLED, "stopped");
    }
  }
  CheckReplies();
}

bool Workers::ListAwaited() {
  polled_.clear();
  bool any = false;
  for (const Worker& worker : workers_) {
    any |= worker.awaited;
    polled_.push_back({worker.awaited ? worker.replies.fd() : -1, POLLIN, 0});
    polled_.push_back({worker.awaited ? worker.process.fd() : -1, POLLIN, 0});
    polled_.push_back({worker.output.fd(), POLLIN, 0});
  }
  return any;
}

void Workers::Serve(size_t w, bool any_ready, Clock::time_point end) {
  Worker& worker = workers_[w];
  const auto events = [&](size_t file) { return any_ready ? polled_[3 * w + file].revents : 0; };
  if (events(2) != 0 && !ReadOutput(&worker) && (events(2) & POLLIN) == 0)
    worker.output.Close();  // the worker closed its end, so polling would never wait
  if (!worker.awaited) return;
  // Read the reply before handling the worker's death.
  const bool has_ended = events(1) != 0;
  if ((events(0) != 0 || has_ended) && !ReadReply(&worker) && worker.awaited && (has_ended || (events(0) & POLLHUP) != 0))
    RefuseDead(&worker);
  if (worker.awaited && Until(end).count() == 0) RefuseLate(&worker);
}

// Reads the available part of a reply: its length in 4 bytes, then as many bytes.
bool Workers::ReadReply(Worker* worker) {
  while (worker->awaited) {
    const bool in_length = worker->got < sizeof worker->length;
    const size_t at = in_length ? worker->got : worker->got - sizeof worker->length;
    const size_t wanted = std::min<size_t>((in_length ? sizeof worker->length : worker->length) - at, kPortion);
    if (!in_length && worker->reply.size() < at + wanted) worker->reply.resize(at + wanted);
    char* const into = (in_length ? reinterpret_cast<char*>(&worker->length) : worker->reply.data()) + at;
    const ssize_t n = read(worker->replies.fd(), into, wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    worker->got += static_cast<uint64_t>(n);
    if (worker->got == sizeof worker->length && worker->length > MostBytesOfReply(worker->kind)) RefuseLength(worker);
    if (worker->got >= sizeof worker->length && worker->got == sizeof worker->length + worker->length) worker->awaited = false;
  }
  return true;
}

bool Workers::ReadOutput(Worker* worker) {
  if (worker->output.fd() < 0) return false;
  char text[16 * 1024];
  const ssize_t n = read(worker->output.fd(), text, sizeof text);
  if (n > 0) Keep(worker, {text, static_cast<size_t>(n)});
  return n > 0;
}

// Logs the first lines and keeps the last bytes for errors. Counts the rest and logs the count at powers of ten, because a
// trial ends without destroying its env and so without a last message.
void Workers::Keep(Worker* worker, std::string_view text) {
  const std::string_view last = text.substr(text.size() - std::min(text.size(), kTailBytes));
  worker->tail += last;
  if (worker->tail.size() > 2 * kTailBytes) worker->tail.erase(0, worker->tail.size() - kTailBytes);
  const size_t room = std::min<uint64_t>(text.size(), kMostLoggedBytes - logged_bytes_);
  logged_bytes_ += room;
  unlogged_bytes_ += text.size() - room;
  for (; unlogged_bytes_ >= told_bytes_; told_bytes_ *= 10)
    host_->log(host_, BP_LOG_INFO,
               ("the workers have printed " + std::to_string(told_bytes_ / 1'000'000) + " MB more").c_str());
  if (room == 0) return;
  worker->line += text.substr(0, room);
  size_t begin = 0;
  for (size_t end; (end = worker->line.find('\n', begin)) != std::string::npos; begin = end + 1)
    LogLine(*worker, std::string_view(worker->line).substr(begin, end - begin));
  worker->line.erase(0, begin);
  if (logged_bytes_ == kMostLoggedBytes)
    host_->log(host_, BP_LOG_WARN, "the workers have printed more than 64 KiB; further output is counted and not logged");
}

void Workers::LogLine(const Worker& worker, std::string_view line) {
  const std::string place = program_.name.empty() ? "worker " + std::to_string(&worker - workers_.data()) + ": " : "";
  host_->log(host_, BP_LOG_INFO, (place + std::string(line)).c_str());
}

// A reply is empty, or 'V' and an answer, 'N' and notices as JSON, or 'E' and an error as JSON.
void Workers::CheckReplies() {
  for (Worker& worker : workers_) {
    if (worker.reply.empty()) continue;
    const char kind = worker.reply.front();
    worker.reply.erase(0, 1);
    if (kind == 'V' && HasAnswer(worker.kind)) continue;
    if (kind == 'N' && notices_.Log(worker.reply)) {
      worker.reply.clear();
      continue;
    }
    const nlohmann::json said =
        kind == 'E' ? nlohmann::json::parse(worker.reply, nullptr, /*allow_exceptions=*/false) : nlohmann::json();
    End(/*at_once=*/true);
    if (!said.is_object())
      throw bp::Error(BP_E_INTERNAL, Name(worker) + " sent a malformed reply: " + worker.reply.substr(0, kMostLastWords));
    const bool is_config = said.value("config", false), no_memory = said.value("oom", false);
    std::string text = said.value("row", int64_t{-1}) < 0 ? "" : "row " + said["row"].dump() + ": ";
    text += said.value("error", "");
    if (const std::string traceback = said.value("traceback", ""); !traceback.empty()) text += "\n" + traceback;
    throw bp::Error(is_config ? BP_E_CONFIG : no_memory ? BP_E_OOM_HOST : BP_E_INTERNAL, text);
  }
}

std::string Workers::Name(const Worker& worker) const {
  if (!program_.name.empty()) return program_.name;
  const auto index = static_cast<uint64_t>(&worker - workers_.data());
  const uint64_t n = workers_.size(), owned = (rows_ - index + n - 1) / n;
  return "worker " + std::to_string(index) + " of " + std::to_string(n) + " (" + std::to_string(owned) + " of " +
         std::to_string(rows_) + " rows)";
}

// Python prints the stack of a crash with the latest call first, and a list of libraries after it.
std::string Workers::LastWords(const Worker& worker) const {
  const std::string_view tail = worker.tail;
  if (tail.empty()) return "; it printed no output";
  const size_t crash = tail.rfind("Fatal Python error");
  const size_t begin = crash != std::string_view::npos ? crash : tail.size() - std::min(tail.size(), kMostLastWords);
  const size_t end = crash != std::string_view::npos ? tail.find("\nExtension modules", crash) : std::string_view::npos;
  return "; its last output:\n" + std::string(tail.substr(begin, std::min(end, begin + kMostLastWords) - begin));
}

void Workers::RefuseLength(Worker* worker) {
  const std::string text = Name(*worker) + " announced a reply of " + std::to_string(worker->length) +
                           " bytes; expected at most " + std::to_string(MostBytesOfReply(worker->kind)) +
                           ": its code probably wrote to file descriptor " + std::to_string(kReplies) +
                           ", which is reserved for replies";
  End(/*at_once=*/true);
  throw bp::Error(BP_E_INTERNAL, text);
}

void Workers::RefuseDead(Worker* worker) {
  const auto end = Clock::now() + kGrace;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(worker->pid, &status, WNOHANG)) == 0 && Until(end).count() > 0) {
    pollfd process{worker->process.fd(), POLLIN, 0};
    poll(&process, 1, 10);
  }
  while (ReadOutput(worker)) {
  }
  std::string how = "has closed its end";
  if (ended == worker->pid) {
    worker->pid = -1;
    how = WIFSIGNALED(status)
              ? "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")"
              : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  }
  const std::string text = Name(*worker) + " " + how + LastWords(*worker);
  End(/*at_once=*/true);
  throw bp::Error(BP_E_INTERNAL, text);
}

void Workers::RefuseLate(Worker* worker) {
  while (ReadOutput(worker)) {
  }
  worker->tail.clear();
  kill(worker->pid, SIGUSR1);  // it prints its threads' stacks, latest call first
  const auto end = Clock::now() + kGrace;
  for (bool silent = false; !silent && Until(end).count() > 0;) {
    pollfd output{worker->output.fd(), POLLIN, 0};
    const bool is_first = worker->tail.empty();
    silent = poll(&output, 1, is_first ? static_cast<int>(kGrace.count()) : 100) == 0;
    while (worker->tail.size() < kMostLastWords && ReadOutput(worker)) {
    }
    silent |= worker->tail.size() >= kMostLastWords;
  }
  const std::string text =
      Name(*worker) + " did not answer within timeout: " + Seconds(timeout_s_) +
      (worker->tail.empty() ? ", nor report its stack" : "; its stack:\n" + worker->tail.substr(0, kMostLastWords));
  End(/*at_once=*/true);
  throw bp::Error(BP_E_TIMEOUT, text);
}

// Each ends when its command pipe closes; otherwise it is killed.
void Workers::End(bool at_once) noexcept {
  for (Worker& worker : workers_) {
    worker.commands.Close();
    if (at_once && worker.pid > 0) kill(worker.pid, SIGKILL);
  }
  const auto end = Clock::now() + kGrace;
  for (Worker& worker : workers_) {
    if (worker.pid < 0) continue;
    while (waitpid(worker.pid, nullptr, WNOHANG) == 0) {
      if (Until(end).count() == 0) kill(worker.pid, SIGKILL);
      pollfd ends[2] = {{worker.process.fd(), POLLIN, 0}, {worker.output.fd(), POLLIN, 0}};
      poll(ends, 2, 10);
      while (!at_once && ReadOutput(&worker)) {
      }
    }
    while (!at_once && ReadOutput(&worker)) {
    }
    worker.pid = -1;
    worker.awaited = false;
  }
}

}  // namespace backplane::python_env
