// Shared libraries opened at run time: the program works without them and says which is missing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

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

// Takes functions into their pointers, and remembers the names of those that are missing.
class TakenSymbols {
 public:
  template <class F>
  void take(const Library& library, F& function, const char* name) {
    put(function, name, library.symbol(name));
  }
  // Found elsewhere; null: it is missing.
  template <class F>
  void put(F& function, const char* name, void* found) {
    function = reinterpret_cast<F>(found);
    if (found == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
  }
  // "cuInit, cuMemAlloc"; empty: none is missing.
  const std::string& missing() const { return missing_; }

 private:
  std::string missing_;
};

}  // namespace attn
