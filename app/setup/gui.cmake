# The GUI libraries from the pinned sources: attnscope_imgui (Dear ImGui and ImPlot,
# no window system), attnscope_imgui_platform (GLFW and the OpenGL renderer),
# attnscope_formulas (MicroTeX, optional), and the fonts of the program.

set(ATTNSCOPE_GUI_VERSION "1.93.0")
set(gui "${ATTNSCOPE_GUI_SOURCES}")
if(NOT gui)
  if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache "$ENV{XDG_CACHE_HOME}")
  else()
    set(cache "$ENV{HOME}/.cache")
  endif()
  set(gui "${cache}/attnscope/sources/imgui_bundle-${ATTNSCOPE_GUI_VERSION}/external")
endif()
if(NOT EXISTS "${gui}/imgui/imgui/imgui.cpp")
  message(FATAL_ERROR
    "The GUI sources are not in ${gui}.\n"
    "Fetch them with:  bash app/setup/fetch_gui.sh\n"
    "or name another copy with -DATTNSCOPE_GUI_SOURCES=.../imgui_bundle-${ATTNSCOPE_GUI_VERSION}/external")
endif()

set(ATTNSCOPE_GUI_FOLDER "${gui}")  # for headers that one room alone uses

# ---- Dear ImGui and ImPlot
set(imgui "${gui}/imgui/imgui")
set(implot "${gui}/implot/implot")
add_library(attnscope_imgui STATIC
  "${imgui}/imgui.cpp" "${imgui}/imgui_draw.cpp" "${imgui}/imgui_tables.cpp"
  "${imgui}/imgui_widgets.cpp" "${imgui}/imgui_stacklayout.cpp"
  "${imgui}/misc/cpp/imgui_stdlib.cpp"
  "${implot}/implot.cpp" "${implot}/implot_items.cpp")
target_include_directories(attnscope_imgui SYSTEM PUBLIC
  "${imgui}" "${imgui}/misc/cpp" "${implot}")
# 32-bit characters for the mathematical letters.
target_compile_definitions(attnscope_imgui PUBLIC IMGUI_USE_WCHAR32)
# Plots of float and double alone: with every integer type too, one file compiles
# for a minute and a half.
target_compile_definitions(attnscope_imgui PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)")
# The largest file of all: -O1 halves it, and a chart's points are few.
set_source_files_properties("${implot}/implot_items.cpp" PROPERTIES COMPILE_OPTIONS -O1)
target_link_libraries(attnscope_imgui PRIVATE attnscope_third_party)
# A function to a section: the program leaves out those that it does not call, most of the plots among them.
target_compile_options(attnscope_imgui PRIVATE -ffunction-sections -fdata-sections)
if(ATTNSCOPE_TESTS)
  set(engine "${gui}/imgui_test_engine/imgui_test_engine")
  file(GLOB engine_sources "${engine}/imgui_test_engine/*.cpp")
  target_sources(attnscope_imgui PRIVATE ${engine_sources})
  set_source_files_properties(${engine_sources} PROPERTIES COMPILE_OPTIONS -O1)
  # The engine defines the symbols of stb_image_write; ours are static (STB_IMAGE_WRITE_STATIC).
  # Only the GUI's tests see these definitions: they change no data structure, so the rooms
  # are compiled as for the installed program.
  add_library(attnscope_test_engine INTERFACE)
  target_link_libraries(attnscope_test_engine INTERFACE attnscope_imgui Threads::Threads)
  target_include_directories(attnscope_test_engine SYSTEM INTERFACE
    "${engine}" "${engine}/imgui_test_engine")
  target_include_directories(attnscope_imgui SYSTEM PRIVATE
    "${engine}" "${engine}/imgui_test_engine")
  set(engine_definitions
    IMGUI_ENABLE_TEST_ENGINE
    IMGUI_TEST_ENGINE_ENABLE_CAPTURE=1
    IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1
    IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1)
  target_compile_definitions(attnscope_imgui PRIVATE ${engine_definitions})
  target_compile_definitions(attnscope_test_engine INTERFACE ${engine_definitions})
endif()

# ---- GLFW and the renderer. Neither links OpenGL: both open it at run time, so the
# program starts, and says what is missing, where there is none.
set(GLFW_BUILD_WAYLAND ON CACHE BOOL "" FORCE)
set(GLFW_BUILD_X11 ON CACHE BOOL "" FORCE)
set(GLFW_BUILD_DOCS OFF CACHE BOOL "" FORCE)
set(GLFW_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(GLFW_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
set(GLFW_INSTALL OFF CACHE BOOL "" FORCE)
add_subdirectory("${gui}/glfw/glfw" "${CMAKE_BINARY_DIR}/glfw" EXCLUDE_FROM_ALL)
target_compile_options(glfw PRIVATE -O2 -w)
# Its assertions are about what other programs send: a drop of a list without a path would end the window.
target_compile_definitions(glfw PRIVATE NDEBUG)
add_library(attnscope_imgui_platform STATIC
  "${imgui}/backends/imgui_impl_glfw.cpp" "${imgui}/backends/imgui_impl_opengl3.cpp"
  "${imgui}/backends/imgui_impl_null.cpp")
target_include_directories(attnscope_imgui_platform SYSTEM PUBLIC
  "${imgui}/backends" "${gui}/glfw/glfw/include")
# OpenGL's own functions come from imgui_impl_opengl3_loader.h.
target_compile_definitions(attnscope_imgui_platform PUBLIC GLFW_INCLUDE_NONE)
target_link_libraries(attnscope_imgui_platform PRIVATE attnscope_third_party)
target_link_libraries(attnscope_imgui_platform PUBLIC attnscope_imgui glfw ${CMAKE_DL_LIBS})

# ---- Fonts and licences: copied to the build's share folder, never into the repository.
set(text_fonts "${gui}/imgui_rich_md/imgui_rich_md/assets/fonts")
set(math_fonts "${gui}/imgui_microtex/MicroTeX/res/xits")
foreach(font
    "${text_fonts}/Roboto/Roboto-Regular.ttf"
    "${text_fonts}/Roboto/Roboto-Bold.ttf"
    "${text_fonts}/Roboto/Roboto-RegularItalic.ttf"
    "${imgui}/misc/fonts/Roboto-Medium.ttf"
    "${text_fonts}/Inconsolata-Medium.ttf"
    "${gui}/imgui_test_engine/imgui_test_engine/imgui_test_suite/assets/fonts/NotoSansMono-Regular.ttf"
    "${math_fonts}/XITS-Italic.otf"
    "${math_fonts}/XITS-Regular.otf"
    "${math_fonts}/XITSMath-Regular.otf")
  if(NOT EXISTS "${font}")
    message(FATAL_ERROR "The GUI sources lack a font: ${font}\nTo fix it, run bash app/setup/fetch_gui.sh")
  endif()
  file(COPY "${font}" DESTINATION "${ATTNSCOPE_BUILD_ASSETS}/fonts")
endforeach()
set(licenses "${ATTNSCOPE_BUILD_ASSETS}/licenses")
configure_file("${CMAKE_SOURCE_DIR}/LICENSE" "${licenses}/AttnScope" COPYONLY)
configure_file("${CMAKE_SOURCE_DIR}/app/setup/THIRD_PARTY" "${licenses}/THIRD_PARTY" COPYONLY)
configure_file("${imgui}/LICENSE.txt" "${licenses}/Dear_ImGui" COPYONLY)
configure_file("${implot}/LICENSE" "${licenses}/ImPlot" COPYONLY)
configure_file("${gui}/glfw/glfw/LICENSE.md" "${licenses}/GLFW" COPYONLY)
configure_file("${text_fonts}/Roboto/LICENSE.txt" "${licenses}/Roboto" COPYONLY)
configure_file("${text_fonts}/Inconsolata-LICENSE-OFL.txt" "${licenses}/Inconsolata_and_Noto_OFL" COPYONLY)
configure_file("${math_fonts}/OFL.txt" "${licenses}/XITS" COPYONLY)

# ---- Formulas
if(ATTNSCOPE_FORMULAS)
  find_package(Freetype REQUIRED)
  set(MICROTEX_BUILD_STATIC ON)
  set(MICROTEX_GLYPH_RENDER_TYPE 2)
  set(MICROTEX_HAVE_AUTO_FONT_FIND OFF)
  set(GRAPHICS_DEBUG OFF)
  set(MICROTEX_API_VERSION 1)
  set(microtex_folder "${gui}/imgui_microtex/MicroTeX/lib")
  add_subdirectory("${microtex_folder}" "${CMAKE_BINARY_DIR}/microtex" EXCLUDE_FROM_ALL)
  target_compile_options(microtex PRIVATE -O2 -w)
  # Its utils.cpp asks for the locale en_US.UTF-8 and aborts where a bare system has
  # none; with this definition it takes its "C" branch.
  set_source_files_properties("${microtex_folder}/utils/utils.cpp"
    TARGET_DIRECTORY microtex PROPERTIES COMPILE_DEFINITIONS __WIN32__)
  set(latex "${gui}/imgui_rich_md/imgui_rich_md/imgui_rich_md/backends/latex")
  add_library(attnscope_formulas STATIC
    "${latex}/rich_md_latex.cpp" "${latex}/internal/graphic_freetype.cpp")
  target_include_directories(attnscope_formulas SYSTEM PUBLIC "${latex}")
  target_link_libraries(attnscope_formulas PRIVATE attnscope_third_party)
  target_link_libraries(attnscope_formulas PUBLIC attnscope_imgui microtex Freetype::Freetype)
  configure_file("${gui}/imgui_microtex/MicroTeX/LICENSE" "${licenses}/MicroTeX" COPYONLY)
  configure_file("${gui}/imgui_rich_md/imgui_rich_md/LICENSE" "${licenses}/imgui_rich_md" COPYONLY)
  file(COPY "${math_fonts}/XITSMath-Regular.clm1" "${math_fonts}/XITSMath-Regular.clm2"
       DESTINATION "${ATTNSCOPE_BUILD_ASSETS}/fonts")
endif()
