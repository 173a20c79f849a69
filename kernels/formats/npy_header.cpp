#include "kernels/formats/npy_header.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/array.h"
#include "kernels/base/text.h"
#include "kernels/formats/foreign_file.h"

namespace attn {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxAxes = 8;

// Recursive descent over the few literals that numpy.lib.format writes. Every function returns nothing where the
// text does not fit, and leaves words in `error` where it knows better ones.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<RawNpyHeader> parse() {
    RawNpyHeader header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':') || !entry(*key, header)) return std::nullopt;
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    skip_space();
    if (at_ != text_.size() || !has_type_ || !has_order_ || !has_shape_) return std::nullopt;
    return header;
  }

  std::string error;
  std::size_t place() const { return at_; }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string> string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"')) return std::nullopt;
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  // Python 2 wrote 3L.
  std::optional<std::int64_t> integer() {
    skip_space();
    std::int64_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) error = tr("an extent of its shape does not fit in 63 bits");
    if (code != std::errc()) return std::nullopt;
    at_ += static_cast<std::size_t>(end - first);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  bool shape(std::vector<std::int64_t>& out) {
    if (!take('(')) return false;
    while (!take(')')) {
      const auto extent = integer();
      if (!extent) return false;
      if (*extent < 0) {
        error = phrase("its shape has a negative extent ({})", *extent);
        return false;
      }
      out.push_back(*extent);
      if (out.size() > kMaxAxes) {
        error = phrase("it has more than {} axes", kMaxAxes);
        return false;
      }
      if (take(',')) continue;
      // (3) without a comma is a number in Python, not a shape.
      return out.size() > 1 && take(')');
    }
    return true;
  }

  // False for a key that was there before, so that each is given exactly once.
  static bool once(bool& seen) { return !std::exchange(seen, true); }

  bool entry(const std::string& key, RawNpyHeader& header) {
    if (key == "descr" && once(has_type_)) {
      skip_space();
      if (at_ < text_.size() && text_[at_] == '[') {
        error = tr("it contains records; save a plain array of float16, float32 or float64");
        return false;
      }
      const auto type = string();
      if (!type) return false;
      header.type = *type;
      return true;
    }
    if (key == "fortran_order" && once(has_order_)) {
      header.fortran_order = take_word("True");
      return header.fortran_order || take_word("False");
    }
    return key == "shape" && once(has_shape_) && shape(header.shape);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

tl::unexpected<Error> refuse(const std::string& name, const std::string& why) {
  return bad_input(phrase("{} cannot be read: {}.", name, why));
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace

Result<RawNpyHeader> parse_raw_npy_header(std::span<const std::byte> head, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (const std::string foreign = foreign_file(head, name); !foreign.empty()) return refuse(name, foreign);
  if (!text.starts_with(kMagic) || head.size() < 10) {
    return refuse(name, text.starts_with(kMagic) ? tr("it ends inside its header")
                                                 : tr("it is not a .npy file (it does not begin with \\x93NUMPY)"));
  }
  const int major = std::to_integer<int>(head[6]), minor = std::to_integer<int>(head[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return refuse(name, phrase("unknown .npy version {}.{}; versions 1.0, 2.0 and 3.0 are supported", major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  if (head.size() < begin) return refuse(name, tr("it ends inside its header"));
  const std::uint64_t length = little_endian(head.subspan(8, length_bytes));
  if (length > kMaxNpyHeader - begin) {
    return refuse(name,
                  phrase("its header claims to be {} bytes long; the limit is {}", length, kMaxNpyHeader - begin));
  }
  if (length > head.size() - begin) return refuse(name, tr("it ends inside its header"));

  HeaderParser parser(text.substr(begin, static_cast<std::size_t>(length)));
  std::optional<RawNpyHeader> header = parser.parse();
  if (!header) {
    return refuse(name, !parser.error.empty()
                            ? parser.error
                            : phrase("its header is not a dictionary with descr, fortran_order and shape (byte {})",
                                     begin + parser.place()));
  }
  header->data_offset = begin + length;
  return *header;
}

Result<std::uint64_t> npy_data_bytes(const RawNpyHeader& header, std::uint64_t item_size, std::uint64_t file_bytes,
                                     const std::string& name) {
  if (header.fortran_order) {
    return refuse(name, tr("it is in Fortran order; save np.ascontiguousarray(array) instead"));
  }
  if (header.shape.empty()) return refuse(name, tr("it contains a single number (shape ()), not an array"));
  const std::int64_t count = element_count(header.shape);
  const std::string shape = fmt::format("({})", fmt::join(header.shape, ", "));
  if (count < 0 || static_cast<std::uint64_t>(count) > (std::uint64_t{1} << 62) / item_size) {
    return refuse(name, phrase("its shape {} does not fit in 63 bits", shape));
  }
  const std::uint64_t wanted = static_cast<std::uint64_t>(count) * item_size;
  const std::uint64_t present = file_bytes - header.data_offset;
  if (present != wanted) {
    return refuse(name, phrase("shape {} of {} needs {} bytes, but {} bytes follow its header ({})", shape, header.type,
                               wanted, present, present < wanted ? tr("it is truncated") : tr("there is extra data")));
  }
  return wanted;
}

std::vector<std::byte> npy_header_bytes(std::string_view type, std::span<const std::int64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kBegin = 10, kAlign = 64;
  const std::size_t used = kBegin + text.size() + 1;
  text.append((kAlign - used % kAlign) % kAlign, ' ');
  text.push_back('\n');
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  bytes += text;
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

}  // namespace attn
