#include "app/print/cairo.h"

#include <string>

#include "kernels/base/text.h"

namespace attn::cairo {
namespace {

// The symbols of one library.
struct Taker {
  const Library& library;
  TakenSymbols taken = {};
  template <class F>
  void take(F& function, const char* name) {
    taken.take(library, function, name);
  }
};

void take_cairo(Taker& s, Functions& f) {
  s.take(f.pdf_create, "cairo_pdf_surface_create_for_stream");
  s.take(f.set_metadata, "cairo_pdf_surface_set_metadata");
  s.take(f.surface_finish, "cairo_surface_finish");
  s.take(f.surface_status, "cairo_surface_status");
  s.take(f.surface_destroy, "cairo_surface_destroy");
  s.take(f.status_words, "cairo_status_to_string");
  s.take(f.create, "cairo_create");
  s.take(f.destroy, "cairo_destroy");
  s.take(f.status, "cairo_status");
  s.take(f.save, "cairo_save");
  s.take(f.restore, "cairo_restore");
  s.take(f.set_rgb, "cairo_set_source_rgb");
  s.take(f.set_line_width, "cairo_set_line_width");
  s.take(f.set_dash, "cairo_set_dash");
  s.take(f.move_to, "cairo_move_to");
  s.take(f.line_to, "cairo_line_to");
  s.take(f.rectangle, "cairo_rectangle");
  s.take(f.stroke, "cairo_stroke");
  s.take(f.fill, "cairo_fill");
  s.take(f.clip, "cairo_clip");
  s.take(f.set_font_face, "cairo_set_font_face");
  s.take(f.set_font_size, "cairo_set_font_size");
  s.take(f.text_extents, "cairo_text_extents");
  s.take(f.show_text, "cairo_show_text");
  s.take(f.show_page, "cairo_show_page");
  s.take(f.font_of, "cairo_ft_font_face_create_for_ft_face");
  s.take(f.set_user_data, "cairo_font_face_set_user_data");
  s.take(f.font_destroy, "cairo_font_face_destroy");
}

void take_freetype(Taker& s, Functions& f) {
  s.take(f.ft_init, "FT_Init_FreeType");
  s.take(f.ft_done, "FT_Done_FreeType");
  s.take(f.ft_new_face, "FT_New_Face");
  s.take(f.ft_done_face, "FT_Done_Face");
  s.take(f.ft_index, "FT_Get_Char_Index");
}

}  // namespace

Result<Functions> functions() {
  Functions functions;
  struct Needed {
    const char* file;
    void (*take)(Taker&, Functions&);
  };
  for (const Needed& needed : {Needed{"libcairo.so.2", take_cairo}, Needed{"libfreetype.so.6", take_freetype}}) {
    auto library = Library::open(needed.file);
    if (!library)
      return fail(ErrorKind::cannot_run,
                  phrase("A PDF needs {}, which is not installed; on Debian or Ubuntu, run apt install libcairo2.",
                         needed.file));
    Taker symbols{*library};
    needed.take(symbols, functions);
    if (const std::string& missing = symbols.taken.missing(); !missing.empty())
      return fail(ErrorKind::cannot_run,
                  phrase("This {} has no {}: a PDF needs cairo 1.16 or newer.", needed.file, missing));
    library->stay();  // it has caches of its own, which outlive a page
  }
  return functions;
}

}  // namespace attn::cairo
