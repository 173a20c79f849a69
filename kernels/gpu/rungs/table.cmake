# Writes OUT, the table of the GPU's kernels: one row a rung, in the order of the rungs' numbers.
#
# A rung is a FAMILY/ID.cu with a FAMILY/ID.cpp beside it, which makes its row in `KernelRow ID_row()` and numbers it in
# `row.rung = "N"`. So a rung is these two files and no line elsewhere. Configuring fails where one is missing or lacks
# either.
function(attnscope_rung_table out)
  set(numbered "")
  set(numbers "")
  foreach(source IN LISTS ARGN)
    get_filename_component(id "${source}" NAME_WE)
    get_filename_component(folder "${source}" DIRECTORY)
    set(host "${folder}/${id}.cpp")
    if(NOT EXISTS "${host}")
      message(FATAL_ERROR "${source} is a kernel without a row: ${host} is missing.")
    endif()
    file(READ "${host}" text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${host}")
    if(NOT text MATCHES "KernelRow ${id}_row\\(\\)")
      message(FATAL_ERROR "${host} makes no row: it needs a `KernelRow ${id}_row()`.")
    endif()
    if(NOT text MATCHES "row\\.rung = \"([0-9]+[a-z]?)\";")
      message(FATAL_ERROR "${host} does not number its rung: it needs a line like `row.rung = \"10\";`.")
    endif()
    if("${CMAKE_MATCH_1}" IN_LIST numbers)
      message(FATAL_ERROR "Two rungs have the number ${CMAKE_MATCH_1}; ${host} is one of them.")
    endif()
    list(APPEND numbers "${CMAKE_MATCH_1}")
    list(APPEND numbered "${CMAKE_MATCH_1} ${id}")
  endforeach()
  list(SORT numbered COMPARE NATURAL)
  set(declared "")
  set(listed "")
  foreach(entry IN LISTS numbered)
    string(REGEX REPLACE "^[^ ]* " "" id "${entry}")
    string(APPEND declared "KernelRow ${id}_row();\n")
    string(APPEND listed "      ${id}_row(),\n")
  endforeach()
  file(GENERATE OUTPUT "${out}" CONTENT "// Made by CMake from the rungs' files: do not edit.
#include <array>
#include <span>

#include \"kernels/gpu/rungs/rows.h\"

namespace attn::gpu {

${declared}
std::span<const KernelRow> gpu_kernel_table() {
  static const std::array kTable = {
${listed}  };
  return kTable;
}

}  // namespace attn::gpu
")
endfunction()
