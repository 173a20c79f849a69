// Every text that a frame hands to Dear ImGui's draw lists: widgets' and canvases' alike. The linker puts
// drawn_text.cpp in the place of ImDrawList::AddText in this program (tests/CMakeLists.txt, --wrap).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attn {

// Collects while it lives; one at a time.
class DrawnText {
 public:
  DrawnText();
  DrawnText(const DrawnText&) = delete;
  DrawnText& operator=(const DrawnText&) = delete;
  ~DrawnText();

  const std::set<std::string>& texts() const { return texts_; }
  // Each as it was drawn, with what of its rectangle lies within the clip rectangle: pixels.
  struct Place {
    std::string text;
    float left = 0, top = 0, right = 0, bottom = 0;
    float size = 0;  // of its letters
    bool meets(const Place& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
  };
  const std::vector<Place>& places() const { return places_; }
  void add(Place place) { places_.push_back(std::move(place)); }
  // How often it was drawn.
  int count(const std::string& text) const {
    const auto found = counts_.find(text);
    return found == counts_.end() ? 0 : found->second;
  }
  void add(std::string text) {
    ++counts_[text];
    texts_.insert(std::move(text));
  }

 private:
  std::set<std::string> texts_;
  std::map<std::string, int> counts_;
  std::vector<Place> places_;
};

}  // namespace attn
