#include "app/system/language.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/system/assets.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/formats/catalogue_file.h"

namespace attn {
namespace {

constexpr std::uint64_t kMaxBytes = 16 << 20;

Result<Catalogue> read_catalogue(const std::string& language) {
  const bool pseudo = language == kPseudoLanguage;
  if (language.find_first_of("/.") != std::string::npos)
    return bad_input(phrase("ATTNSCOPE_LANGUAGE: unknown language '{}'; use de, for example.", language));
  const auto file = find_asset(fmt::format("texts/{}.json", pseudo ? "en" : language));
  if (!file) return tl::unexpected(file.error());
  const auto bytes = read_file(*file, kMaxBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return pseudo ? pseudo_catalogue(text, file->string()) : parse_catalogue(text, file->string());
}

}  // namespace

Result<void> speak_as_asked() {
  const auto language = environment("ATTNSCOPE_LANGUAGE");
  if (!language || *language == "en") return ok();
  auto read = read_catalogue(*language);
  if (!read) return tl::unexpected(read.error());
  static const Catalogue kept = *std::move(read);
  speak(&kept);
  return ok();
}

}  // namespace attn
