// A page starts no processes.
#include "app/system/child_process.h"
#include "app/system/run_program.h"

#include <utility>

#include "app/web/absent/words.h"

namespace attn {
namespace {

NoMessage nobody() {
  return {NoReply::closed, in_desktop(tr("A web page cannot start other programs."))};
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
Socket& Socket::operator=(Socket&& other) noexcept {
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}
Socket::~Socket() = default;
tl::expected<void, NoMessage> Socket::send(const std::string&, std::span<const std::span<const std::byte>>,
                                           const Deadline&) {
  return tl::unexpected(nobody());
}
tl::expected<Message, NoMessage> Socket::receive(const Deadline&, const MessageLimit&) {
  return tl::unexpected(nobody());
}

Result<Child> Child::start(const std::vector<std::string>&, const std::string&, const std::string&,
                           std::span<const Socket* const>) {
  return fail(ErrorKind::cannot_run, nobody().words);
}
Child::Child(Child&& other) noexcept : id_(std::exchange(other.id_, -1)), socket_(std::move(other.socket_)) {}
Child& Child::operator=(Child&& other) noexcept {
  id_ = std::exchange(other.id_, -1);
  socket_ = std::move(other.socket_);
  return *this;
}
Child::~Child() = default;
std::string Child::finish(double) {
  return nobody().words;
}
std::string Child::kill() {
  return nobody().words;
}

Result<std::string> output_of(const std::filesystem::path&, const std::vector<std::string>&, const Deadline&,
                              std::size_t, const std::filesystem::path&) {
  return fail(ErrorKind::cannot_run, nobody().words);
}

}  // namespace attn
