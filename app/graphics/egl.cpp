#include "app/graphics/egl.h"

#include <string>

#include "kernels/base/text.h"

namespace attn::egl {
namespace {

template <class F>
bool find(const Library& library, const char* name, F& function) {
  function = reinterpret_cast<F>(library.symbol(name));
  return function != nullptr;
}

template <class F>
void find_extension(const Functions& egl, const char* name, F& function) {
  function = reinterpret_cast<F>(egl.get_proc_address(name));
}

}  // namespace

Result<Functions> load(const Library& library) {
  Functions f;
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!find(library, name, function) && missing == nullptr) missing = name;
  };
  need("eglGetProcAddress", f.get_proc_address);
  need("eglGetDisplay", f.get_display);
  need("eglInitialize", f.initialize);
  need("eglTerminate", f.terminate);
  need("eglBindAPI", f.bind_api);
  need("eglChooseConfig", f.choose_config);
  need("eglCreateContext", f.create_context);
  need("eglDestroyContext", f.destroy_context);
  need("eglCreatePbufferSurface", f.create_pbuffer);
  need("eglDestroySurface", f.destroy_surface);
  need("eglMakeCurrent", f.make_current);
  if (missing != nullptr) return fail(ErrorKind::cannot_run, phrase("libEGL.so.1 has no {}.", missing));
  find_extension(f, "eglQueryDevicesEXT", f.query_devices);
  find_extension(f, "eglGetPlatformDisplayEXT", f.get_platform_display);
  return f;
}

}  // namespace attn::egl
