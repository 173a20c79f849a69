// The one boundary of every reader of JSON: whatever nlohmann::json, or what reads through it, throws at a file that
// nobody vouches for becomes an error in words. So no exception of a parser leaves its reader.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "kernels/base/result.h"
#include "kernels/base/text.h"

namespace attn {

// `read` gives a Result; `name` is the file's, for the message.
template <class Read>
std::invoke_result_t<const Read&> reading(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::cannot_run, phrase("{}: not enough memory to read it.", name));
  } catch (const std::exception& wrong) {
    return bad_input(phrase("{} cannot be read: {}.", name, wrong.what()));
  }
}

}  // namespace attn
