#include "kernels/base/library.h"

#include <dlfcn.h>

#include <utility>

namespace attn {

Result<Library> Library::open(const std::string& name, Symbols symbols) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | (symbols == Symbols::global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == nullptr) {
    const char* words = dlerror();
    return fail(ErrorKind::cannot_run, words == nullptr ? name : words);
  }
  return Library(handle, name);
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)), stays_(other.stays_) {}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  std::swap(stays_, other.stays_);
  return *this;
}

Library::~Library() {
  if (handle_ != nullptr && !stays_) dlclose(handle_);
}

void* Library::symbol(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace attn
