// A display that goes away under the window: the server ends, or the connection over the network breaks. X11's library
// then leaves with exit code 1; ours is 3, with words about what was measured.
#pragma once

#include <filesystem>
#include <string>

namespace attn {

// For as long as it lives. After glfwInit(); on Wayland there is nothing to do, its window is asked to close.
class LostDisplay {
 public:
  explicit LostDisplay(std::string words);
  ~LostDisplay();
  LostDisplay(const LostDisplay&) = delete;
  LostDisplay& operator=(const LostDisplay&) = delete;

 private:
  std::string words_;
};

// `runs`: the folder where each row is written before the next is measured; empty = they are not kept.
std::string words_of_loss(const std::filesystem::path& runs);

}  // namespace attn
