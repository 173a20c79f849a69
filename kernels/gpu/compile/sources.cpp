#include "kernels/gpu/compile/sources.h"

#include <system_error>

#include <fmt/format.h>

#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/hash.h"

namespace attn::gpu {
namespace {

constexpr std::uint64_t kMaxSourceBytes = 1 << 20;

std::string hash_with_headers(std::string_view text) {
  std::string all(text);
  for (const SourceText& s : embedded_sources()) {
    if (s.name.ends_with(".cu")) continue;
    all += s.name;
    all += s.text;
  }
  return hash_of(all);
}

}  // namespace

std::string KernelSource::label(std::string_view id) const {
  return edited ? fmt::format("{}@{}", id, hash.substr(0, 8)) : std::string(id);
}

Result<KernelSource> kernel_source(std::string_view id, const std::filesystem::path& folder) {
  KernelSource source;
  const std::filesystem::path edited = folder / fmt::format("{}.cu", id);
  std::error_code error;
  if (!folder.empty() && std::filesystem::exists(edited, error)) {
    auto bytes = read_file(edited, kMaxSourceBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    source.name = edited.string();
    source.text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    source.edited = true;
  } else {
    source.name = fmt::format("kernels/gpu/{}.cu", id);
    for (const SourceText& s : embedded_sources()) {
      if (s.name == source.name) source.text = s.text;
    }
    if (source.text.empty()) return bad_input(fmt::format("the program holds no source {}", source.name));
  }
  source.hash = hash_with_headers(source.text);
  return source;
}

std::filesystem::path edited_kernels_folder() {
  if (const auto named = environment("ATTNSCOPE_KERNELS")) return *named;
  const std::filesystem::path data = data_folder();
  return data.empty() ? data : data / "kernels";
}

}  // namespace attn::gpu
