// A text as it is being typed into a field of viz/draw/widgets.h. Plain values.
#pragma once

#include <string>

namespace attn {

// Kept while the field is active and while the text is refused.
struct FieldDraft {
  std::string text, error;
  bool kept = false;
};

}  // namespace attn
