// Everything that asks the operating system for more than standard C++ gives. A port changes posix.cpp alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kernels/base/result.h"

namespace attn {

// None where the variable is unset or empty.
std::optional<std::string> environment(const char* name);

// The file of this program; empty where the system does not tell.
std::filesystem::path executable_path();

// Seconds since this process was started; -1 where the system does not tell. Resolution 10 ms.
double seconds_since_start();

// $XDG_CONFIG_HOME/attnscope, $XDG_DATA_HOME/attnscope (XDG Base Directory Specification). Empty where neither the
// variable nor HOME is set. Not created.
std::filesystem::path config_folder();
std::filesystem::path data_folder();

// Whether files can be made in `folder`.
bool can_write_in(const std::filesystem::path& folder);

// A shared library opened at run time; closed with the object.
class Library {
 public:
  // The error is the loader's own words.
  static Result<Library> open(const char* name);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();
  // Null where there is no such symbol.
  void* symbol(const char* name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace attn
