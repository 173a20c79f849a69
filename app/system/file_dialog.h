// The desktop's own file dialogs (zenity, kdialog ...), which run beside the window: it goes on drawing. Where the
// desktop has none, available() is false and the program's own path fields do.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace attn {

class FileDialog {
 public:
  enum class Kind : std::uint8_t { open, save, folder };

  FileDialog();
  ~FileDialog();  // closes the dialog
  FileDialog(const FileDialog&) = delete;
  FileDialog& operator=(const FileDialog&) = delete;

  static bool available();
  // `filter`: "*.npy"; empty = all files. Replaces a dialog that is open.
  void open(Kind kind, const std::string& title, const std::string& start, const std::string& filter);
  // Once, when the user has chosen: the path; "" where the dialog was cancelled. Never waits.
  std::optional<std::string> poll();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attn
