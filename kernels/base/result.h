// Errors as values, with words a user can act on. Exceptions are for bugs only.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace attn {

// What kind of failure it was; the command line turns it into an exit code.
enum class ErrorKind {
  bad_input,   // the user's value is at fault: exit 2
  cannot_run,  // this machine cannot do it (no GPU, not enough memory): exit 3
  cancelled,   // the user stopped it: exit 130
  io,          // a file could not be read or written: exit 3
  failed,      // a check did not hold: exit 1
};

// `message` names the value and what would do, in one or two sentences, no trailing newline.
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

// Ok carries no value: `Result<void>` spelt for use with `return ok();`.
inline Result<void> ok() {
  return {};
}

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> bad_input(std::string message) {
  return fail(ErrorKind::bad_input, std::move(message));
}

}  // namespace attn
