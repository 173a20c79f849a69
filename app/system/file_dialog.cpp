#include "app/system/file_dialog.h"

#include <variant>
#include <vector>

#include <portable_file_dialogs.h>

#include "kernels/base/text.h"

namespace attn {

// Each is a child process, which its destructor would wait for.
struct FileDialog::Impl {
  std::variant<std::monostate, std::unique_ptr<pfd::open_file>, std::unique_ptr<pfd::save_file>,
               std::unique_ptr<pfd::select_folder>>
      dialog;

  template <class F>
  void visit(F&& f) const {
    std::visit(
        [&](const auto& d) {
          if constexpr (requires { *d; }) f(*d);
        },
        dialog);
  }
  void close() {
    visit([](const auto& d) {
      if (!d.ready(0)) d.kill();
    });
    dialog = std::monostate{};
  }
};

FileDialog::FileDialog() : impl_(std::make_unique<Impl>()) {}

FileDialog::~FileDialog() {
  impl_->close();
}

bool FileDialog::available() {
  return pfd::settings::available();
}

void FileDialog::open(Kind kind, const std::string& title, const std::string& start, const std::string& filter) {
  impl_->close();
  std::vector<std::string> filters{tr("All files"), "*"};
  if (!filter.empty()) filters.insert(filters.begin(), {filter, filter});
  if (kind == Kind::open) {
    impl_->dialog = std::make_unique<pfd::open_file>(title, start, filters);
  } else if (kind == Kind::save) {
    impl_->dialog = std::make_unique<pfd::save_file>(title, start, filters);
  } else {
    impl_->dialog = std::make_unique<pfd::select_folder>(title, start);
  }
}

std::optional<std::string> FileDialog::poll() {
  std::optional<std::string> chosen;
  std::visit(
      [&](auto& d) {
        if constexpr (requires { *d; }) {
          if (!d->ready(0)) return;
          if constexpr (requires { d->result().substr(); }) {
            chosen = d->result();
          } else {
            const std::vector<std::string> files = d->result();
            chosen = files.empty() ? std::string() : files.front();
          }
        }
      },
      impl_->dialog);
  if (chosen) impl_->dialog = std::monostate{};
  return chosen;
}

}  // namespace attn
