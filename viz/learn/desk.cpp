#include "viz/learn/desk.h"

namespace attn {

std::string kind_words(AskKind kind) {
  switch (kind) {
    case AskKind::num:
      return "Predict: a number";
    case AskKind::pick:
      return "Predict: choose one";
    case AskKind::click:
      return "Predict: click it, or its number here";
    case AskKind::tiles:
      return "Predict: choose all";
  }
  return {};
}

}  // namespace attn
