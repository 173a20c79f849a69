// The language of the program's own texts. Lessons have their own (docs/lessons.md).
#pragma once

#include "kernels/base/result.h"

namespace attn {

// Speaks the language that $ATTNSCOPE_LANGUAGE names: assets/texts/NAME.json, or kPseudoLanguage. Not set, or "en":
// English. For main() alone, before the first command or frame. The error says what is wrong with the file.
Result<void> speak_as_asked();

}  // namespace attn
