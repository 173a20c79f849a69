#include "kernels/formats/container.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <zip.h>
#include <nlohmann/json.hpp>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/formats/foreign_file.h"

namespace attn {
namespace {

constexpr const char* kSessionName = "session.json";

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

bool name_allowed(std::string_view name) {
  constexpr std::size_t kLongest = 255;
  if (name.empty() || name.size() > kLongest) return false;
  if (!std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != ':'; })) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

// Reads one zip that lies in memory; every refusal names the file and the entry.
class Reader {
 public:
  Reader(zip_t* zip, const std::string& name, const ContainerLimits& limits)
      : zip_(zip), name_(name), limits_(limits) {}

  Result<Container> read() {
    const zip_int64_t entries = zip_get_num_entries(zip_, 0);
    if (entries < 0 || static_cast<std::uint64_t>(entries) > limits_.max_entries) {
      return refuse(phrase("it has {} entries; the limit is {}", entries, limits_.max_entries));
    }
    Container c;
    bool has_session = false;
    // All of the directory is checked before any entry is decompressed.
    for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(entries); ++i) {
      if (auto r = check(i); !r) return tl::unexpected(r.error());
    }
    for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(entries); ++i) {
      const std::string entry = zip_get_name(zip_, i, 0);
      if (entry.ends_with('/')) continue;  // a folder, which other zip programs add
      Result<std::vector<std::byte>> bytes = extract(i, entry);
      if (!bytes) return tl::unexpected(bytes.error());
      if (entry == kSessionName) {
        has_session = true;
        c.session_json.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      } else {
        c.files[entry] = std::move(*bytes);
      }
    }
    if (!has_session) return refuse(tr("it has no session.json, so it was not written by AttnScope"));
    return c;
  }

 private:
  tl::unexpected<Error> refuse(const std::string& why) const {
    return bad_input(phrase("{} cannot be read: {}.", name_, why));
  }

  // One line of the zip's directory.
  Result<void> check(zip_uint64_t index) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(zip_, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
      return refuse(phrase("entry {} of the file's directory is damaged", index));
    }
    std::string_view entry = stat.name;
    const bool folder = entry.ends_with('/') && stat.size == 0;
    if (!name_allowed(folder ? entry.substr(0, entry.size() - 1) : entry)) {
      return refuse(phrase("the name of entry {} is not a plain relative path", index));
    }
    if (!names_.insert(std::string(entry)).second) return refuse(phrase("it contains {} twice", entry));
    if (stat.encryption_method != ZIP_EM_NONE) return refuse(phrase("{} is encrypted", entry));
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      return refuse(
          phrase("{} is compressed with method {}; only stored and deflate are supported", entry, stat.comp_method));
    }
    const std::uint64_t max = entry == kSessionName ? limits_.max_json_bytes : limits_.max_entry_bytes;
    if (stat.size > max) {
      return refuse(phrase("{} claims {}; the limit is {}", entry, format_bytes(stat.size), format_bytes(max)));
    }
    total_ += stat.size;
    if (total_ > limits_.max_total_bytes) {
      return refuse(phrase("its entries claim more than {}", format_bytes(limits_.max_total_bytes)));
    }
    return ok();
  }

  Result<std::vector<std::byte>> extract(zip_uint64_t index, const std::string& entry) const {
    zip_stat_t stat;
    const Entry file(zip_fopen_index(zip_, index, 0));
    if (!file || zip_stat_index(zip_, index, 0, &stat) != 0) {
      return refuse(fmt::format("{}: {}", entry, zip_strerror(zip_)));
    }
    // Grown as it is read: a directory that claims more than there is costs no memory.
    std::vector<std::byte> bytes;
    constexpr std::uint64_t kPiece = 1 << 20;
    while (bytes.size() < stat.size) {
      const std::size_t done = bytes.size();
      bytes.resize(done + static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, stat.size - done)));
      const zip_int64_t n = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
      if (n <= 0) return refuse(phrase("{} is damaged or truncated", entry));
      bytes.resize(done + static_cast<std::size_t>(n));
    }
    // libzip compares the checksum when it meets the end.
    std::byte beyond;
    if (zip_fread(file.get(), &beyond, 1) != 0) {
      return refuse(phrase("{} is damaged: wrong checksum or size", entry));
    }
    return bytes;
  }

  zip_t* zip_;
  const std::string& name_;
  const ContainerLimits& limits_;
  std::set<std::string> names_;
  std::uint64_t total_ = 0;
};

// Takes over nothing: `bytes` must live until the archive is closed.
bool add_entry(zip_t* zip, const std::string& name, const void* bytes, std::size_t size) {
  Source source(zip_source_buffer(zip, bytes, size, 0));
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

Result<Container> read_container(const std::filesystem::path& file, const ContainerLimits& limits) {
  const Result<std::vector<std::byte>> bytes = read_file(file, limits.max_file_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return parse_container(*bytes, file.string(), limits);
}

Result<Container> parse_container(std::span<const std::byte> bytes, const std::string& name,
                                  const ContainerLimits& limits) {
  if (bytes.empty()) return bad_input(phrase("{} is empty.", name));
  if (bytes.size() > limits.max_file_bytes) {
    return bad_input(
        phrase("{} has {}; the limit is {}.", name, format_bytes(bytes.size()), format_bytes(limits.max_file_bytes)));
  }
  if (const std::string foreign = foreign_file(bytes, name); !foreign.empty())
    return bad_input(phrase("{} cannot be read: {}.", name, foreign));
  ZipError error;
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
  if (!source) return fail(ErrorKind::failed, fmt::format("{}: {}.", name, error.words()));
  const Zip zip(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, error.get()));
  if (!zip) {
    return bad_input(phrase("{} is not a complete AttnScope file ({}).", name, error.words()));
  }
  (void)source.release();  // the archive owns it now
  Result<Container> c = Reader(zip.get(), name, limits).read();
  if (!c) return c;
  if (const auto session = session_object(*c, name); !session) return tl::unexpected(session.error());
  return c;
}

Result<std::vector<std::byte>> container_bytes(const Container& c) {
  ZipError error;
  const Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!source) return fail(ErrorKind::failed, phrase("Cannot pack the session: {}.", error.words()));
  zip_source_keep(source.get());  // the archive takes one reference, the bytes are read through the other
  Zip zip(zip_open_from_source(source.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
  if (!zip) {
    zip_source_free(source.get());
    return fail(ErrorKind::failed, phrase("Cannot pack the session: {}.", error.words()));
  }
  bool added = add_entry(zip.get(), kSessionName, c.session_json.data(), c.session_json.size());
  for (const auto& [name, bytes] : c.files) {
    if (!name_allowed(name) || name == kSessionName) {
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
