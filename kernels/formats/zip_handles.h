// libzip's objects, each owned.
#pragma once

#include <memory>
#include <string>

#include <zip.h>

namespace attn::zipped {

struct Discard {
  void operator()(zip_t* z) const { zip_discard(z); }
  void operator()(zip_source_t* s) const { zip_source_free(s); }
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using Zip = std::unique_ptr<zip_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

// libzip's error object, which owns its text.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  std::string words() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

}  // namespace attn::zipped
