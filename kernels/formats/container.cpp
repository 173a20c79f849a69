#include "kernels/formats/container.h"

#include <zip.h>

#include "kernels/base/text.h"
#include "kernels/formats/zip_handles.h"

namespace attn {
namespace {

// Takes over nothing: `bytes` must live until the archive is closed.
bool add_entry(zip_t* zip, const std::string& name, const void* bytes, std::size_t size) {
  zipped::Source source(zip_source_buffer(zip, bytes, size, 0));
  if (!source) return false;
  const zip_int64_t index = zip_file_add(zip, name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) return false;
  (void)source.release();  // the archive owns it now
  const auto at = static_cast<zip_uint64_t>(index);
  // 1 January 1980, the first day that a zip can name; by DOS fields, since a time_t would pass through the time zone.
  constexpr zip_uint16_t kDate = 1 << 5 | 1;
  constexpr zip_uint32_t kFastest = 1;
  return zip_file_set_dostime(zip, at, 0, kDate, 0) == 0 &&
         zip_set_file_compression(zip, at, ZIP_CM_DEFLATE, kFastest) == 0;
}

Result<std::vector<std::byte>> bytes_of(zip_source_t* source) {
  zip_stat_t stat;
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) {
    return fail(ErrorKind::failed, tr("Cannot pack the session: no zip was produced."));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(stat.size));
  const zip_int64_t n = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (n < 0 || static_cast<std::size_t>(n) != bytes.size()) {
    return fail(ErrorKind::failed, tr("Cannot pack the session: the zip is incomplete."));
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> container_bytes(const Container& c) {
  zipped::ZipError error;
  const zipped::Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!source) return fail(ErrorKind::failed, phrase("Cannot pack the session: {}.", error.words()));
  zip_source_keep(source.get());  // the archive takes one reference, the bytes are read through the other
  zipped::Zip zip(zip_open_from_source(source.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
  if (!zip) {
    zip_source_free(source.get());
    return fail(ErrorKind::failed, phrase("Cannot pack the session: {}.", error.words()));
  }
  bool added = add_entry(zip.get(), kSessionEntry, c.session_json.data(), c.session_json.size());
  for (const auto& [name, bytes] : c.files) {
    if (!is_entry_name(name) || name == kSessionEntry) {
      return bad_input(phrase("'{}' is not a valid entry name.", name));
    }
    added = added && add_entry(zip.get(), name, bytes.data(), bytes.size());
  }
  if (!added || zip_close(zip.get()) != 0) {
    return fail(ErrorKind::failed, phrase("Cannot pack the session: {}.", zip_strerror(zip.get())));
  }
  (void)zip.release();  // closed by zip_close
  return bytes_of(source.get());
}

}  // namespace attn
