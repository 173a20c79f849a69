#include "kernels/formats/container_reading.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zip.h>
#include <nlohmann/json.hpp>

#include "kernels/base/bytes.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"
#include "kernels/formats/foreign_file.h"
#include "kernels/formats/json_slices.h"
#include "kernels/formats/zip_handles.h"

namespace attn {

bool is_entry_name(std::string_view name) {
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
class ContainerReading::Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string name, const ContainerLimits& limits,
         std::function<bool(const std::string&)> wanted)
      : bytes_(bytes), name_(std::move(name)), limits_(limits), wanted_(std::move(wanted)) {}

  Result<bool> step() {
    if (json_) return parse();
    if (zip_ == nullptr) return none_left(open());
    if (file_ != nullptr) return none_left(extract());
    if (next_ < entries_) return none_left(begin(next_++));
    if (!has_session_) return refuse(tr("it has no session.json, so it was not written by AttnScope"));
    json_.emplace(container_.session_json, name_ + ": " + kSessionEntry, ContainerLimits{}.max_json_depth);
    return false;
  }
  Container take() { return std::move(container_); }

 private:
  static Result<bool> none_left(const Result<void>& read) {
    if (!read) return tl::unexpected(read.error());
    return false;
  }
  tl::unexpected<Error> refuse(const std::string& why) const {
    return bad_input(phrase("{} cannot be read: {}.", name_, why));
  }

  // All of the directory is checked before any entry is decompressed.
  Result<void> open() {
    if (bytes_.empty()) return bad_input(phrase("{} is empty.", name_));
    if (bytes_.size() > limits_.max_file_bytes)
      return bad_input(phrase("{} has {}; the limit is {}.", name_, format_bytes(bytes_.size()),
                              format_bytes(limits_.max_file_bytes)));
    if (const std::string foreign = foreign_file(bytes_, name_); !foreign.empty())
      return bad_input(phrase("{} cannot be read: {}.", name_, foreign));
    zipped::ZipError error;
    zipped::Source source(zip_source_buffer_create(bytes_.data(), bytes_.size(), 0, error.get()));
    if (!source) return fail(ErrorKind::failed, fmt::format("{}: {}.", name_, error.words()));
    zip_ = zipped::Zip(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, error.get()));
    if (!zip_) return bad_input(phrase("{} is not a complete AttnScope file ({}).", name_, error.words()));
    (void)source.release();  // the archive owns it now
    const zip_int64_t entries = zip_get_num_entries(zip_.get(), 0);
    if (entries < 0 || static_cast<std::uint64_t>(entries) > limits_.max_entries)
      return refuse(phrase("it has {} entries; the limit is {}", entries, limits_.max_entries));
    entries_ = static_cast<zip_uint64_t>(entries);
    for (zip_uint64_t i = 0; i < entries_; ++i)
      if (auto good = check(i); !good) return good;
    return ok();
  }

  // One line of the zip's directory.
  Result<void> check(zip_uint64_t index) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(zip_.get(), index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
      return refuse(phrase("entry {} of the file's directory is damaged", index));
    }
    std::string_view entry = stat.name;
    const bool folder = entry.ends_with('/') && stat.size == 0;
    if (!is_entry_name(folder ? entry.substr(0, entry.size() - 1) : entry)) {
      return refuse(phrase("the name of entry {} is not a plain relative path", index));
    }
    if (!names_.insert(std::string(entry)).second) return refuse(phrase("it contains {} twice", entry));
    if (stat.encryption_method != ZIP_EM_NONE) return refuse(phrase("{} is encrypted", entry));
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      return refuse(
          phrase("{} is compressed with method {}; only stored and deflate are supported", entry, stat.comp_method));
    }
    const std::uint64_t max = entry == kSessionEntry ? limits_.max_json_bytes : limits_.max_entry_bytes;
    if (stat.size > max) {
      return refuse(phrase("{} claims {}; the limit is {}", entry, format_bytes(stat.size), format_bytes(max)));
    }
    total_ += stat.size;
    if (total_ > limits_.max_total_bytes) {
      return refuse(phrase("its entries would unpack to more than {}", format_bytes(limits_.max_total_bytes)));
    }
    return ok();
  }

  Result<void> begin(zip_uint64_t index) {
    entry_ = zip_get_name(zip_.get(), index, 0);
    if (entry_.ends_with('/')) return ok();  // a folder, which other zip programs add
    if (entry_ != kSessionEntry && wanted_ && !wanted_(entry_)) return ok();
    zip_stat_t stat;
    file_ = zipped::Entry(zip_fopen_index(zip_.get(), index, 0));
    if (!file_ || zip_stat_index(zip_.get(), index, 0, &stat) != 0)
      return refuse(fmt::format("{}: {}", entry_, zip_strerror(zip_.get())));
    size_ = stat.size;
    done_ = 0;
    has_session_ = has_session_ || entry_ == kSessionEntry;
    return ok();
  }

  // Grown as it is read: a directory that claims more than there is costs no memory.
  Result<void> extract() {
    constexpr std::uint64_t kPiece = 32 << 10;
    piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size_ - done_)));
    if (!piece_.empty()) {
      const zip_int64_t n = zip_fread(file_.get(), piece_.data(), piece_.size());
      if (n <= 0) return refuse(phrase("{} is damaged or truncated", entry_));
      piece_.resize(static_cast<std::size_t>(n));
      done_ += piece_.size();
      // Each where it stays: a copy of the whole takes long.
      if (entry_ == kSessionEntry)
        container_.session_json.append(reinterpret_cast<const char*>(piece_.data()), piece_.size());
      else
        entry_bytes_.insert(entry_bytes_.end(), piece_.begin(), piece_.end());
      if (done_ < size_) return ok();
    }
    // libzip compares the checksum when it meets the end.
    std::byte beyond;
    if (zip_fread(file_.get(), &beyond, 1) != 0) return refuse(phrase("{} is damaged: wrong checksum or size", entry_));
    file_.reset();
    if (entry_ != kSessionEntry) container_.files[entry_] = std::exchange(entry_bytes_, {});
    return ok();
  }

  Result<bool> parse() {
    auto done = json_->step();
    if (!done || !*done) return done;
    auto session = std::make_shared<nlohmann::json>(json_->take());
    if (auto good = check_session_object(*session, name_); !good) return tl::unexpected(good.error());
    container_.session = std::move(session);
    return true;
  }

  const std::span<const std::byte> bytes_;
  const std::string name_;
  const ContainerLimits limits_;
  const std::function<bool(const std::string&)> wanted_;
  Container container_;
  zipped::Zip zip_;
  zip_uint64_t entries_ = 0, next_ = 0;
  std::set<std::string> names_;
  std::uint64_t total_ = 0;
  bool has_session_ = false;
  // The entry that is being read.
  zipped::Entry file_;
  std::string entry_;
  std::uint64_t size_ = 0, done_ = 0;
  std::vector<std::byte> piece_, entry_bytes_;
  std::optional<JsonSlices> json_;  // of session.json, once all entries are read
};

ContainerReading::ContainerReading(std::span<const std::byte> bytes, std::string name, const ContainerLimits& limits,
                                   std::function<bool(const std::string&)> wanted)
    : reader_(std::make_unique<Reader>(bytes, std::move(name), limits, std::move(wanted))) {}

ContainerReading::~ContainerReading() = default;

Result<bool> ContainerReading::step() {
  return reader_->step();
}

Container ContainerReading::take() {
  return reader_->take();
}

Result<Container> read_container(const std::filesystem::path& file, const ContainerLimits& limits) {
  const Result<std::vector<std::byte>> bytes = read_file(file, limits.max_file_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return parse_container(*bytes, file.string(), limits);
}

Result<Container> parse_container(std::span<const std::byte> bytes, const std::string& name,
                                  const ContainerLimits& limits) {
  ContainerReading reading(bytes, name, limits);
  for (;;) {
    const Result<bool> done = reading.step();
    if (!done) return tl::unexpected(done.error());
    if (*done) return reading.take();
  }
}

}  // namespace attn
