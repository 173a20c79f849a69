// Shared libraries opened at run time: the program works without them and says which is missing.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/result.h"

namespace attn {

// Who finds the library's symbols: the one who opened it alone, or every library that is loaded later too.
enum class Symbols : std::uint8_t { local, global };

// One open library; closed with the object.
class Library {
 public:
  // The error is the loader's own words.
  static Result<Library> open(const std::string& name, Symbols symbols = Symbols::local);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
  // Null where there is no such symbol.
  void* symbol(const char* name) const;
  const std::string& name() const { return name_; }
  // The library stays in the process after the object: for one that others call back into.
  void stay() { stays_ = true; }

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_ = nullptr;
  std::string name_;
  bool stays_ = false;
};

}  // namespace attn
