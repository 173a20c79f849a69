# Writes OUT, a C++ file that holds the CUDA sources as text. A raw string may be
# 64 KiB at most in some compilers; each file is well below.
#
# A source is named "kernels/gpu/FILE" wherever FILE lies: the names are part of what a
# kernel's hash is made of, and of the #include lines of a user's edited copy, so they
# stay when files move. Two files of one name, in different folders, would be one source: configuring fails.
function(attnscope_embed out)
  set(text "// Made by CMake from the CUDA sources: do not edit.\n")
  string(APPEND text "#include <array>\n#include <string_view>\n\n#include \"kernels/gpu/compile/sources.h\"\n\n")
  string(APPEND text "namespace attn::gpu {\n\nstd::span<const SourceText> written_sources() {\n"
    "  using namespace std::string_view_literals;  // clang would count characters, a million at most\n")
  list(LENGTH ARGN count)
  set(seen "")
  foreach(path IN LISTS ARGN)
    get_filename_component(file "${path}" NAME)
    if("${file}" IN_LIST seen)
      message(FATAL_ERROR "Two CUDA sources are named ${file}: ${path} and one before it. A source is known by its "
        "file's name alone, wherever it lies; give this one another name.")
    endif()
    list(APPEND seen "${file}")
  endforeach()
  string(APPEND text "  static constexpr std::array<SourceText, ${count}> kSources{{\n")
  foreach(path IN LISTS ARGN)
    file(READ "${path}" content)
    get_filename_component(file "${path}" NAME)
    string(APPEND text "      {\"kernels/gpu/${file}\", R\"attnscope(${content})attnscope\"sv},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  endforeach()
  string(APPEND text "  }};\n  return kSources;\n}\n\n}  // namespace attn::gpu\n")
  file(GENERATE OUTPUT "${out}" CONTENT "${text}")
endfunction()
