// The browser's own file dialog: what is chosen is copied into the page's file system by page.js, which then calls
// page_chosen. What is saved is handed over as a download (app/web/downloads.h), so a name is enough.
#include "app/system/file_dialog.h"

#include <optional>
#include <string>

#include <emscripten.h>

#include "app/web/chosen_file.h"

EM_JS(void, page_choose_file, (const char* filter), { Module.page.choose(UTF8ToString(filter)); });

namespace attn {

struct FileDialog::Impl {
  std::optional<std::string> named;  // of one that saves
};

FileDialog::FileDialog() : impl_(std::make_unique<Impl>()) {}
FileDialog::~FileDialog() = default;

bool FileDialog::available() {
  return true;
}

void FileDialog::open(Kind kind, const std::string&, const std::string& start, const std::string& filter) {
  if (kind == Kind::open) return page_choose_file(filter.c_str());
  impl_->named = start;
}

std::optional<std::string> FileDialog::poll() {
  if (impl_->named) return std::exchange(impl_->named, std::nullopt);
  return take_chosen_file();
}

}  // namespace attn
