// A page has no cairo.
#include "app/print/chapter_print.h"

#include "app/web/absent/words.h"

namespace attn {

Result<void> print_chapter(const Lesson&, const PrintedChapter&) {
  return fail(ErrorKind::cannot_run, in_desktop(tr("A web page cannot make a PDF.")));
}

}  // namespace attn
