#include "app/graphics/offscreen.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "app/graphics/egl.h"
#include "app/graphics/gl.h"
#include "app/system/posix.h"
#include "kernels/base/library.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr int kMaxDevices = 16;

// A context on one display; gives everything back when it dies.
class EglContext {
 public:
  static std::optional<EglContext> create(const egl::Functions& f, egl::Handle display, int width, int height) {
    if (display == nullptr || f.initialize(display, nullptr, nullptr) == 0) return std::nullopt;
    EglContext c(f, display);
    const egl::Int wanted[] = {egl::kSurfaceType,
                               egl::kPbufferBit,
                               egl::kRenderableType,
                               egl::kOpenGlBit,
                               egl::kRedSize,
                               8,
                               egl::kGreenSize,
                               8,
                               egl::kBlueSize,
                               8,
                               egl::kAlphaSize,
                               8,
                               egl::kNone};
    egl::Handle config = nullptr;
    egl::Int count = 0;
    if (f.choose_config(display, wanted, &config, 1, &count) == 0 || count == 0) return std::nullopt;
    f.bind_api(egl::kOpenGlApi);
    const egl::Int context[] = {egl::kContextMajor, 3,         egl::kContextMinor, 3, egl::kContextProfile,
                                egl::kCoreProfile,  egl::kNone};
    c.context_ = f.create_context(display, config, nullptr, context);
    const egl::Int surface[] = {egl::kWidth, width, egl::kHeight, height, egl::kNone};
    c.surface_ = f.create_pbuffer(display, config, surface);
    if (c.context_ == nullptr || c.surface_ == nullptr) return std::nullopt;
    if (f.make_current(display, c.surface_, c.surface_, c.context_) == 0) return std::nullopt;
    return c;
  }
  EglContext(EglContext&& other) noexcept
      : f_(other.f_),
        display_(std::exchange(other.display_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        surface_(std::exchange(other.surface_, nullptr)) {}
  EglContext& operator=(EglContext&&) = delete;
  ~EglContext() {
    if (display_ == nullptr) return;
    f_.make_current(display_, nullptr, nullptr, nullptr);
    if (surface_ != nullptr) f_.destroy_surface(display_, surface_);
    if (context_ != nullptr) f_.destroy_context(display_, context_);
    f_.terminate(display_);
  }

 private:
  EglContext(const egl::Functions& f, egl::Handle display) : f_(f), display_(display) {}
  egl::Functions f_;
  egl::Handle display_ = nullptr, context_ = nullptr, surface_ = nullptr;
};

// Every display worth a try: each GPU (Mesa counts its software renderer as one), then Mesa without any device, then
// whatever the library takes for its default.
std::vector<egl::Handle> displays_of(const egl::Functions& f) {
  std::vector<egl::Handle> displays;
  if (f.query_devices != nullptr && f.get_platform_display != nullptr) {
    egl::Handle devices[kMaxDevices] = {};
    egl::Int count = 0;
    f.query_devices(kMaxDevices, devices, &count);
    for (egl::Int i = 0; i < count; ++i) {
      displays.push_back(f.get_platform_display(egl::kPlatformDevice, devices[i], nullptr));
    }
  }
  if (f.get_platform_display != nullptr) {
    displays.push_back(f.get_platform_display(egl::kPlatformSurfaceless, nullptr, nullptr));
  }
  displays.push_back(f.get_display(nullptr));
  return displays;
}

tl::unexpected<Error> missing_library(const char* library, const char* package, const Error& why) {
  return fail(
      ErrorKind::cannot_run,
      phrase("Cannot draw a picture: {} is missing ({}). On Debian and Ubuntu, install the package {}: apt install {}.",
             std::string(library), why.message, package, package));
}

}  // namespace

struct Offscreen::Impl {
  // Members go in reverse order: the context before the library it lives in.
  Library egl_library, gl_library;
  EglContext context;
  Gl gl;
  int width = 0, height = 0;
};

Offscreen::Offscreen(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Offscreen::Offscreen(Offscreen&&) noexcept = default;
Offscreen& Offscreen::operator=(Offscreen&&) noexcept = default;
Offscreen::~Offscreen() = default;

Result<Offscreen> Offscreen::create(int width, int height) {
  // Mesa's software renderer with its compiler, fonts, and the picture some times over. Without it a library ends the
  // process where it cannot map.
  constexpr std::uint64_t kLibraries = 256, kEach = 32, kMiB = 1U << 20U;
  const auto pixels = static_cast<std::uint64_t>(std::max(1, width)) * static_cast<std::uint64_t>(std::max(1, height));
  const std::uint64_t needed = kLibraries + kEach * pixels / kMiB;
  if (!may_map(needed * kMiB))
    return fail(ErrorKind::cannot_run,
                phrase("Cannot draw a picture: OpenGL needs about {} MiB of address space, more than this process may "
                       "use (ulimit -v).",
                       needed));
  // Global: drivers that libEGL loads look symbols up in it.
  auto egl_library = Library::open("libEGL.so.1", Symbols::global);
  if (!egl_library) return missing_library("libEGL.so.1", "libegl1", egl_library.error());
  // Dear ImGui's renderer takes its functions from there.
  auto gl_library = Library::open("libOpenGL.so.0", Symbols::global);
  if (!gl_library) return missing_library("libOpenGL.so.0", "libopengl0", gl_library.error());
  const auto functions = egl::load(*egl_library);
  if (!functions) return tl::unexpected(functions.error());
  for (const egl::Handle display : displays_of(*functions)) {
    auto context = EglContext::create(*functions, display, width, height);
    if (!context) continue;
    auto gl = Gl::load(functions->get_proc_address);
    if (!gl) return tl::unexpected(gl.error());
    return Offscreen(std::make_unique<Impl>(
        Impl{*std::move(egl_library), *std::move(gl_library), *std::move(context), *std::move(gl), width, height}));
  }
  return fail(ErrorKind::cannot_run,
              tr("Cannot draw a picture: EGL does not provide OpenGL 3.3 here. If there is no GPU driver, install the "
                 "software renderer: apt install libgl1-mesa-dri."));
}

int Offscreen::width() const {
  return impl_->width;
}
int Offscreen::height() const {
  return impl_->height;
}
std::string Offscreen::renderer() const {
  return impl_->gl.renderer();
}
void Offscreen::clear(unsigned abgr) const {
  impl_->gl.clear(impl_->width, impl_->height, abgr);
}
void Offscreen::finish() const {
  impl_->gl.finish();
}
Image Offscreen::read_pixels() const {
  return impl_->gl.read_pixels(impl_->width, impl_->height);
}

Result<std::string> check_offscreen() {
  const auto offscreen = Offscreen::create(16, 16);
  if (!offscreen) return tl::unexpected(offscreen.error());
  return offscreen->renderer();
}

}  // namespace attn
