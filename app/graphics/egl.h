// The part of EGL 1.5 that offscreen.cpp calls, opened at run time: neither headers nor libraries of EGL are needed to
// build. Values and signatures: Khronos EGL 1.5 and EGL_EXT_device_base, EGL_EXT_platform_device,
// EGL_MESA_platform_surfaceless.
#pragma once

#include <cstdint>

#include "kernels/base/library.h"
#include "kernels/base/result.h"

namespace attn::egl {

using Handle = void*;  // EGLDisplay, EGLConfig, EGLContext, EGLSurface, EGLDeviceEXT
using Int = std::int32_t;
using Bool = unsigned;
using Enum = unsigned;

constexpr Enum kPlatformDevice = 0x313F, kPlatformSurfaceless = 0x31DD, kOpenGlApi = 0x30A2;
constexpr Int kNone = 0x3038, kSurfaceType = 0x3033, kPbufferBit = 1, kRenderableType = 0x3040, kOpenGlBit = 8,
              kRedSize = 0x3024, kGreenSize = 0x3023, kBlueSize = 0x3022, kAlphaSize = 0x3021, kWidth = 0x3057,
              kHeight = 0x3056, kContextMajor = 0x3098, kContextMinor = 0x30FB, kContextProfile = 0x30FD,
              kCoreProfile = 1;

struct Functions {
  void* (*get_proc_address)(const char*) = nullptr;
  Handle (*get_display)(void*) = nullptr;
  Bool (*initialize)(Handle, Int*, Int*) = nullptr;
  Bool (*terminate)(Handle) = nullptr;
  Bool (*bind_api)(Enum) = nullptr;
  Bool (*choose_config)(Handle, const Int*, Handle*, Int, Int*) = nullptr;
  Handle (*create_context)(Handle, Handle, Handle, const Int*) = nullptr;
  Bool (*destroy_context)(Handle, Handle) = nullptr;
  Handle (*create_pbuffer)(Handle, Handle, const Int*) = nullptr;
  Bool (*destroy_surface)(Handle, Handle) = nullptr;
  Bool (*make_current)(Handle, Handle, Handle, Handle) = nullptr;
  // Extensions: null where the library lacks them.
  Bool (*query_devices)(Int, Handle*, Int*) = nullptr;
  Handle (*get_platform_display)(Enum, void*, const Int*) = nullptr;
};

// The error names the function that the library lacks.
Result<Functions> load(const Library& library);

}  // namespace attn::egl
