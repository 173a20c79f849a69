// A child process and one socket to it: what the GPU worker hangs on. POSIX; child_process.cpp alone asks the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

// Where to stop waiting for a message.
struct Deadline {
  double seconds = 0;  // 0 = for ever
  std::stop_token stop;
};

// Why a message did not come.
enum class NoReply : std::uint8_t { closed, too_late, stopped, broken };
struct NoMessage {
  NoReply why = NoReply::broken;
  std::string words;
};

// One message: a short text (JSON) and bytes.
struct Message {
  std::string text;
  std::vector<std::byte> bytes;
};

// What a message may have; who announces more sends none.
struct MessageLimit {
  std::uint64_t text = 64ULL << 20, bytes = 1ULL << 40;
};

// One end of a socket pair that carries messages. Frame: "attnmsg1", text length and byte length (u64, this machine's
// byte order: both ends are the same program), text, bytes.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();
  // Parts of `bytes` are sent one after the other.
  tl::expected<void, NoMessage> send(const std::string& text, std::span<const std::span<const std::byte>> bytes,
                                     const Deadline& deadline);
  // Stop and deadline are looked at first, also while bytes arrive.
  tl::expected<Message, NoMessage> receive(const Deadline& deadline, const MessageLimit& most = {});

  // Both ends of a connection, for two children.
  static Result<std::pair<Socket, Socket>> pair();

 private:
  friend class Child;
  int descriptor_ = -1;
};

// Whether the other end of a socket or pipe is gone. Waits for nothing.
bool has_hung_up(int descriptor);

// Whether a signal has stopped a child of ours, and it has not gone on since.
bool is_stopped(int id);

// Ends another process at once, as the system does where memory has run out.
void end_process(int id);

// The descriptor under which a child that was started with Child::start finds its socket; those given to it besides
// follow, in their order.
constexpr int kChildSocket = 3;

class Child {
 public:
  // `program` with these arguments; empty: this program again. `folder`: where it works; empty: here.
  // `given`: sockets that it has besides; the caller may close its own ends then.
  static Result<Child> start(const std::vector<std::string>& arguments, const std::string& program = "",
                             const std::string& folder = "", std::span<const Socket* const> given = {});
  // A copy of this process that runs `work` and ends with its value; for tests. Other threads may run
  // (glibc's memory is made for it, and see tests/asan_fork.cpp), but what they held locked stays locked in the copy.
  static Result<Child> copy(const std::function<int(Socket&)>& work);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // kills

  Socket& socket() { return socket_; }
  int id() const { return id_; }
  // Closes the connection, so that the child ends by itself, and kills it where it has not within `seconds`.
  std::string finish(double seconds);
  // SIGKILL, and waits until it is gone. In words how it had ended, if it had: "exit code 1", "signal 11".
  std::string kill();

 private:
  Child(int id, Socket socket) : id_(id), socket_(std::move(socket)) {}
  int id_ = -1;
  Socket socket_;
};

}  // namespace attn
