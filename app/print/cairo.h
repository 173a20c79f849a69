// The few functions of cairo and FreeType that pages are drawn with, as their manuals declare them. Both libraries keep
// their ABI within libcairo.so.2 and libfreetype.so.6.
#pragma once

#include <memory>
#include <optional>

#include "kernels/base/library.h"
#include "kernels/base/result.h"

namespace attn::cairo {

struct Surface;
struct Context;
struct FontFace;
struct FtLibrary;
struct FtFace;

// cairo_text_extents_t
struct Extents {
  double x_bearing, y_bearing, width, height, x_advance, y_advance;
};
struct Key {
  int unused;
};
using Write = int (*)(void* closure, const unsigned char* data, unsigned length);  // 0: done
constexpr int kTitle = 0, kCreator = 4;                                            // cairo_pdf_metadata_t
constexpr int kWriteError = 11;                                                    // CAIRO_STATUS_WRITE_ERROR

struct Functions {
  Surface* (*pdf_create)(Write, void*, double, double) = nullptr;
  void (*set_metadata)(Surface*, int, const char*) = nullptr;
  void (*surface_finish)(Surface*) = nullptr;
  int (*surface_status)(Surface*) = nullptr;
  void (*surface_destroy)(Surface*) = nullptr;
  const char* (*status_words)(int) = nullptr;
  Context* (*create)(Surface*) = nullptr;
  void (*destroy)(Context*) = nullptr;
  int (*status)(Context*) = nullptr;
  void (*save)(Context*) = nullptr;
  void (*restore)(Context*) = nullptr;
  void (*set_rgb)(Context*, double, double, double) = nullptr;
  void (*set_line_width)(Context*, double) = nullptr;
  void (*set_dash)(Context*, const double*, int, double) = nullptr;
  void (*move_to)(Context*, double, double) = nullptr;
  void (*line_to)(Context*, double, double) = nullptr;
  void (*rectangle)(Context*, double, double, double, double) = nullptr;
  void (*stroke)(Context*) = nullptr;
  void (*fill)(Context*) = nullptr;
  void (*clip)(Context*) = nullptr;
  void (*set_font_face)(Context*, FontFace*) = nullptr;
  void (*set_font_size)(Context*, double) = nullptr;
  void (*text_extents)(Context*, const char*, Extents*) = nullptr;
  void (*show_text)(Context*, const char*) = nullptr;
  void (*show_page)(Context*) = nullptr;
  FontFace* (*font_of)(FtFace*, int) = nullptr;
  int (*set_user_data)(FontFace*, const Key*, void*, void (*)(void*)) = nullptr;
  void (*font_destroy)(FontFace*) = nullptr;
  int (*ft_init)(FtLibrary**) = nullptr;
  int (*ft_done)(FtLibrary*) = nullptr;
  int (*ft_new_face)(FtLibrary*, const char*, long, FtFace**) = nullptr;
  int (*ft_done_face)(FtFace*) = nullptr;
  unsigned (*ft_index)(FtFace*, unsigned long) = nullptr;
};

// The error says which library is missing and which package brings it.
Result<Functions> functions();

}  // namespace attn::cairo
