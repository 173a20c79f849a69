#include "app/system/assets.h"

#include <string>
#include <system_error>
#include <vector>

#include "app/system/posix.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"

namespace attn {

Result<std::filesystem::path> find_assets() {
  std::vector<std::filesystem::path> folders;
  if (const auto named = environment("ATTNSCOPE_ASSETS")) folders.emplace_back(*named);
  if (const auto program = executable_path(); !program.empty()) {
    folders.push_back((program.parent_path() / ATTNSCOPE_ASSET_DIR_RELATIVE).lexically_normal());
  }
  folders.emplace_back(ATTNSCOPE_ASSET_DIR_BUILD);
  std::string tried;
  for (const auto& folder : folders) {
    std::error_code error;
    if (std::filesystem::is_directory(folder / "fonts", error)) return folder;
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  return fail(ErrorKind::cannot_run,
              phrase("The program's fonts are not in any of these folders: {}. Rebuild the program, or set "
                     "ATTNSCOPE_ASSETS to the folder that contains fonts/.",
                     tried));
}

Result<std::filesystem::path> find_asset(const std::filesystem::path& name) {
  Result<std::filesystem::path> folder = find_assets();
  if (!folder) return folder;
  std::filesystem::path path = *folder / name;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  return fail(ErrorKind::cannot_run, phrase("{} is missing; rebuild or reinstall the program.", path.string()));
}

}  // namespace attn
