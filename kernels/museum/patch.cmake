# A wrong kernel is a right one's source with one place changed: PIECE.patch.txt names the source, the text that must
# stand in it exactly once, and what stands there instead.

# attnscope_read_patch(FILE): sets patch_source, patch_find and patch_replace.
function(attnscope_read_patch file)
  file(READ "${file}" text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  string(FIND "${text}" "--- find\n" find_at)
  string(FIND "${text}" "--- replace\n" replace_at)
  if(NOT text MATCHES "^source: ([^\n]+)\n--- find\n" OR replace_at LESS find_at)
    message(FATAL_ERROR "${file}: not 'source: FILE', '--- find', TEXT, '--- replace', TEXT.")
  endif()
  set(patch_source "${CMAKE_MATCH_1}" PARENT_SCOPE)
  math(EXPR from "${find_at} + 9")
  math(EXPR count "${replace_at} - ${from}")
  string(SUBSTRING "${text}" ${from} ${count} find)
  math(EXPR from "${replace_at} + 12")
  string(SUBSTRING "${text}" ${from} -1 replace)
  set(patch_find "${find}" PARENT_SCOPE)
  set(patch_replace "${replace}" PARENT_SCOPE)
endfunction()

# attnscope_patched(FILE OUT): the patched text in OUT; stops where the text to find is not there exactly once.
function(attnscope_patched file out)
  attnscope_read_patch("${file}")
  set(source "${CMAKE_SOURCE_DIR}/${patch_source}")
  file(READ "${source}" text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  string(REPLACE "${patch_find}" "" without "${text}")
  string(LENGTH "${text}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${patch_find}" once)
  math(EXPR missing "${before} - ${after}")
  if(NOT missing EQUAL once)
    math(EXPR times "${missing} / ${once}")
    message(FATAL_ERROR
      "${file}: its text stands ${times} times in ${patch_source}; it must stand there once:\n${patch_find}")
  endif()
  string(REPLACE "${patch_find}" "${patch_replace}" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# attnscope_patched_kernel(FILE SPACE OUT): the patched source of a CPU kernel, with all that it defines in
# attn::cpu::SPACE, as the file OUT. Sets patched_row to the full name of the function that makes its row.
function(attnscope_patched_kernel file space out)
  attnscope_patched("${file}" text)
  attnscope_read_patch("${file}")
  set(opening "\nnamespace attn::cpu {\n")
  string(FIND "${text}" "${opening}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${patch_source} has no 'namespace attn::cpu {' to take the place of.")
  endif()
  string(REPLACE "${opening}" "\nnamespace attn::cpu::${space} {\n" text "${text}")
  file(GENERATE OUTPUT "${out}" CONTENT
    "// Made by CMake from ${patch_source}, with one place changed: do not edit.\n${text}")
  get_filename_component(name "${patch_source}" NAME_WE)
  set(patched_row "attn::cpu::${space}::cpu_${name}_row" PARENT_SCOPE)
endfunction()

# attnscope_museum(OUT FOLDER FILE...): OUT is a C++ file that compiles every patched CPU kernel and lists all patches;
# what it is made of lies in FOLDER.
function(attnscope_museum out folder)
  set(includes "")
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(id "${file}" NAME_WE)
    attnscope_read_patch("${file}")
    set(row "nullptr")
    if(patch_source MATCHES "^kernels/cpu/")
      attnscope_patched_kernel("${file}" "wrong_${id}" "${folder}/${id}.cpp")
      set(row "${patched_row}")
      string(APPEND includes "#include \"${folder}/${id}.cpp\"\n")
    else()
      attnscope_patched("${file}" unused)
    endif()
    string(APPEND rows "      {\"${id}\", \"${patch_source}\", R\"patch(${patch_find})patch\",\n"
      "       R\"patch(${patch_replace})patch\", ${row}},\n")
  endforeach()
  list(LENGTH ARGN count)
  string(CONCAT text "// Made by CMake from kernels/museum/pieces: do not edit.\n#include <array>\n\n"
    "#include \"kernels/museum/patches.h\"\n${includes}\nnamespace attn {\n\n"
    "std::span<const Patch> museum_patches() {\n"
    "  static constexpr std::array<Patch, ${count}> kPatches{{\n${rows}  }};\n  return kPatches;\n}\n\n"
    "}  // namespace attn\n")
  file(GENERATE OUTPUT "${out}" CONTENT "${text}")
endfunction()

# attnscope_experiments(OUT FILE...): OUT is a C++ file that lists the patches of the lab's experiments. Those of one
# experiment share the first part of their file's name and are applied in the order of the names.
function(attnscope_experiments out)
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(id "${file}" NAME_WE)
    attnscope_patched("${file}" unused)
    attnscope_read_patch("${file}")
    string(APPEND rows "      {\"${id}\", \"${patch_source}\", R\"patch(${patch_find})patch\",\n"
      "       R\"patch(${patch_replace})patch\", nullptr},\n")
  endforeach()
  list(LENGTH ARGN count)
  string(CONCAT text "// Made by CMake from the rungs' folders: do not edit.\n#include <array>\n\n"
    "#include \"kernels/lab/experiments.h\"\n\nnamespace attn {\n\n"
    "std::span<const Patch> experiment_patches() {\n"
    "  static constexpr std::array<Patch, ${count}> kPatches{{\n${rows}  }};\n  return kPatches;\n}\n\n"
    "}  // namespace attn\n")
  file(GENERATE OUTPUT "${out}" CONTENT "${text}")
endfunction()
