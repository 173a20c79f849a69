#include "app/print/pdf.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "app/print/cairo.h"
#include "kernels/base/printable.h"
#include "kernels/base/text.h"
#include "viz/draw/theme_table.h"

namespace attn {
namespace {

using cairo::Functions;

// A maths letter is larger than the words around it: its x-height is smaller.
constexpr double kMathsOnPaper = 1.2, kRaisedSize = 0.72;
constexpr double kHatchStep = 5, kEdge = 0.5;
constexpr std::uint32_t kBlack = 0x101214, kEdgeGrey = 0x7B8491;
constexpr int kLightTheme = 1;

std::uint32_t colour_on_paper(Ink ink) {
  if (ink.tensor) return kTensorColours[static_cast<std::size_t>(ink.hue)].rgb[kLightTheme];
  return ink.token == Token::text ? kBlack : kTokenColours[static_cast<std::size_t>(ink.token)].rgb[kLightTheme];
}

// FreeType's library; closed with the last face of it, which cairo may keep after the page.
struct FreeType {
  Functions f;
  cairo::FtLibrary* library = nullptr;
  explicit FreeType(const Functions& functions) : f(functions) {}
  FreeType(const FreeType&) = delete;
  FreeType& operator=(const FreeType&) = delete;
  ~FreeType() {
    if (library != nullptr) f.ft_done(library);
  }
};
struct HeldFace {
  std::shared_ptr<FreeType> of;
  cairo::FtFace* face = nullptr;
};
void let_go(void* held) {
  const std::unique_ptr<HeldFace> face(static_cast<HeldFace*>(held));
  face->of->f.ft_done_face(face->face);
}

struct Font {
  cairo::FtFace* glyphs = nullptr;  // the face's, while `face` lives
  cairo::FontFace* face = nullptr;
};

// The next code point, whose bytes are taken off; of what is no UTF-8, byte by byte, the sign that stands for it.
char32_t next_code(std::string_view& text) {
  const Character c = first_character(text);
  text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  return c.bytes == 0 ? U'\uFFFD' : c.code;
}

int append(void* closure, const unsigned char* data, unsigned length) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(closure);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + length);
  return 0;
}

}  // namespace

struct Pdf::Impl {
  Functions f;
  std::vector<std::byte> bytes;
  cairo::Surface* surface = nullptr;
  cairo::Context* context = nullptr;
  std::vector<std::pair<std::string, Font>> fonts;  // by their file

  explicit Impl(const Functions& functions) : f(functions) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (context != nullptr) f.destroy(context);
    for (const auto& [file, font] : fonts) f.font_destroy(font.face);
    if (surface != nullptr) f.surface_destroy(surface);
  }

  Result<void> load(const std::shared_ptr<FreeType>& free_type, const std::filesystem::path& file) {
    auto held = std::make_unique<HeldFace>(HeldFace{free_type, nullptr});
    if (f.ft_new_face(free_type->library, file.string().c_str(), 0, &held->face) != 0)
      return fail(ErrorKind::io, phrase("The font {} cannot be read.", file.string()));
    static constexpr cairo::Key kHeld{};
    Font font{held->face, f.font_of(held->face, 0)};
    f.set_user_data(font.face, &kHeld, held.release(), let_go);
    fonts.emplace_back(file.filename().string(), font);
    return ok();
  }
  const Font& font(const char* file) const {
    return std::ranges::find(fonts, file, [](const auto& named) { return std::string_view(named.first); })->second;
  }
  // Which of a role's fonts draws a letter; the first where none has it.
  const Font& font_for(const FontRole& role, char32_t code) const {
    for (const char* file : role.files)
      if (const Font& one = font(file); f.ft_index(one.glyphs, code) != 0) return one;
    return font(role.files.front());
  }
  void ink(std::uint32_t rgb) const {
    const auto part = [rgb](unsigned shift) { return static_cast<double>(rgb >> shift & 0xFFU) / 255; };
    f.set_rgb(context, part(16), part(8), part(0));
  }

  // Letters of one font at a time; returns how far they go.
  double run(double x, double baseline, double size, const TextRun& run, bool draw) const {
    const FontRole& role = *std::ranges::find(kFontRoles, run.face, &FontRole::face);
    double high = size * (run.face == Face::maths ? kMathsOnPaper : 1), up = 0;
    if (run.raise != 0) high *= kRaisedSize;
    if (run.raise == 1) up = size * 0.38;
    if (run.raise == -1) up = -size * 0.16;
    if (run.raise == 2) up = size * 0.22;
    if (draw) ink(colour_on_paper(run.ink));
    double at = x;
    for (std::string_view rest = run.text; !rest.empty();) {
      std::string_view after = rest;
      const Font* const one = &font_for(role, next_code(after));
      while (!after.empty()) {
        std::string_view further = after;
        if (&font_for(role, next_code(further)) != one) break;
        after = further;
      }
      const std::string piece(rest.substr(0, rest.size() - after.size()));
      f.set_font_face(context, one->face);
      f.set_font_size(context, high);
      cairo::Extents extents{};
      f.text_extents(context, piece.c_str(), &extents);
      if (draw) {
        f.move_to(context, at, baseline - up);
        f.show_text(context, piece.c_str());
      }
      at += extents.x_advance;
      rest = after;
    }
    return at - x;
  }
};

Pdf::Pdf(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pdf::Pdf(Pdf&&) noexcept = default;
Pdf::~Pdf() = default;

Result<Pdf> Pdf::begin(const Paper& paper, const std::filesystem::path& fonts, const std::string& title) {
  const auto functions = cairo::functions();
  if (!functions) return tl::unexpected(functions.error());
  auto impl = std::make_unique<Impl>(*functions);
  const auto free_type = std::make_shared<FreeType>(*functions);
  if (functions->ft_init(&free_type->library) != 0) return fail(ErrorKind::failed, tr("FreeType cannot start."));
  for (const FontRole& role : kFontRoles) {
    for (const char* file : role.files) {
      if (std::ranges::any_of(impl->fonts, [&](const auto& named) { return named.first == file; })) continue;
      if (auto loaded = impl->load(free_type, fonts / file); !loaded) return tl::unexpected(loaded.error());
    }
  }
  impl->surface = functions->pdf_create(append, &impl->bytes, paper.width, paper.height);
  functions->set_metadata(impl->surface, cairo::kTitle, title.c_str());
  functions->set_metadata(impl->surface, cairo::kCreator, "AttnScope");
  impl->context = functions->create(impl->surface);
  return Pdf(std::move(impl));
}

double Pdf::width(double size, const TextRuns& words) const {
  double x = 0;
  for (const TextRun& run : words) x += impl_->run(x, 0, size, run, false);
  return x;
}

void Pdf::words(double x, double baseline, double size, const TextRuns& words) {
  for (const TextRun& run : words) x += impl_->run(x, baseline, size, run, true);
}

void Pdf::line(double x0, double y0, double x1, double y1, double thickness, std::uint32_t rgb) {
  const Functions& f = impl_->f;
  impl_->ink(rgb);
  f.set_dash(impl_->context, nullptr, 0, 0);
  f.set_line_width(impl_->context, thickness);
  f.move_to(impl_->context, x0, y0);
  f.line_to(impl_->context, x1, y1);
  f.stroke(impl_->context);
}

void Pdf::edge(double x, double y, double width, double height, bool dashed) {
  const Functions& f = impl_->f;
  constexpr std::array<double, 2> kDash{2.5, 2.5};
  impl_->ink(kEdgeGrey);
  f.set_dash(impl_->context, kDash.data(), dashed ? 2 : 0, 0);
  f.set_line_width(impl_->context, kEdge);
  f.rectangle(impl_->context, x, y, width, height);
  f.stroke(impl_->context);
}

void Pdf::fill(double x, double y, double width, double height, std::uint32_t rgb) {
  impl_->ink(rgb);
  impl_->f.rectangle(impl_->context, x, y, width, height);
  impl_->f.fill(impl_->context);
}

void Pdf::hatch(double x, double y, double width, double height, std::uint32_t rgb) {
  const Functions& f = impl_->f;
  f.save(impl_->context);
  f.rectangle(impl_->context, x, y, width, height);
  f.clip(impl_->context);
  for (double at = -height; at < width; at += kHatchStep) line(x + at, y + height, x + at + height, y, kEdge, rgb);
  f.restore(impl_->context);
}

void Pdf::next_page() {
  impl_->f.show_page(impl_->context);
}

Result<std::vector<std::byte>> Pdf::end() {
  const Functions& f = impl_->f;
  f.show_page(impl_->context);
  const int drawn = f.status(impl_->context);
  f.surface_finish(impl_->surface);
  const int written = f.surface_status(impl_->surface);
  if (const int wrong = drawn != 0 ? drawn : written; wrong != 0)
    return fail(ErrorKind::failed, phrase("The PDF was not created: {}.", f.status_words(wrong)));
  return std::move(impl_->bytes);
}

}  // namespace attn
