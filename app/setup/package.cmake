# What an installation has besides the program and its share folder: manual page, completion, menu entry, icons,
# licences; and the Debian package. Included last by CMakeLists.txt.
#   cmake --install build/release --prefix FOLDER
#   cd build/release && cpack

# `attnscope doctor --fetch-cuda` runs them; the build's share folder has them too.
set(setup "${CMAKE_SOURCE_DIR}/app/setup")
file(MAKE_DIRECTORY "${ATTNSCOPE_BUILD_ASSETS}/setup")
foreach(name IN ITEMS fetch_cuda.sh run_module.py)
  file(CREATE_LINK "${setup}/${name}" "${ATTNSCOPE_BUILD_ASSETS}/setup/${name}" SYMBOLIC)
endforeach()
install(PROGRAMS "${setup}/fetch_cuda.sh" DESTINATION share/attnscope/setup)
install(FILES "${setup}/run_module.py" DESTINATION share/attnscope/setup)

# A Python wheel has no places for the rest.
if(SKBUILD)
  return()
endif()

# The program writes its own manual page and completion, from the tables of its command line. When it is installed, not
# at each build: it is there by then.
set(made "${CMAKE_BINARY_DIR}/made")
install(CODE "
  file(MAKE_DIRECTORY \"${made}\")
  foreach(words IN ITEMS \"attnscope.1 --man\" \"attnscope.bash --completion=bash\" \"_attnscope --completion=zsh\"
          \"attnscope.fish --completion=fish\")
    separate_arguments(words)
    list(POP_FRONT words file)
    execute_process(COMMAND \"$<TARGET_FILE:attnscope>\" \${words} OUTPUT_FILE \"${made}/\${file}\"
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND gzip -9nf attnscope.1 WORKING_DIRECTORY \"${made}\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES "${made}/attnscope.1.gz" DESTINATION share/man/man1)
install(FILES "${made}/attnscope.bash" DESTINATION share/bash-completion/completions RENAME attnscope)
install(FILES "${made}/_attnscope" DESTINATION share/zsh/vendor-completions)
install(FILES "${made}/attnscope.fish" DESTINATION share/fish/vendor_completions.d)

set(desktop "${CMAKE_SOURCE_DIR}/assets/desktop")
install(FILES "${desktop}/attnscope.desktop" DESTINATION share/applications)
install(FILES "${desktop}/attnscope.xml" DESTINATION share/mime/packages)
install(FILES "${desktop}/attnscope.svg" DESTINATION share/icons/hicolor/scalable/apps)
foreach(size IN ITEMS 16 24 32 48 64 128 256)
  install(FILES "${desktop}/attnscope-${size}.png" DESTINATION share/icons/hicolor/${size}x${size}/apps
    RENAME attnscope.png)
endforeach()

# Where Debian looks for licences; the texts themselves lie in share/attnscope/licenses.
file(READ "${CMAKE_SOURCE_DIR}/LICENSE" license)
file(READ "${CMAKE_SOURCE_DIR}/app/setup/THIRD_PARTY" third_party)
file(WRITE "${made}/copyright" "${license}\n${third_party}")
install(FILES "${made}/copyright" DESTINATION share/doc/attnscope)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attnscope)
set(CPACK_PACKAGE_VENDOR "The AttnScope authors")
set(CPACK_PACKAGE_CONTACT "The AttnScope authors <attnscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Microscope for attention kernels")
set(CPACK_PACKAGE_DESCRIPTION
  "Steps through the tiled online softmax with every value that a kernel really computed, runs each kernel of a ladder "
  "on shapes of your choice, checks and measures it, and shows time, error and memory traffic beside the baseline.")
string(REPLACE ";" "" CPACK_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# What the program links, by dpkg-shlibdeps (package dpkg-dev); and what it opens at run time, which no tool sees.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
string(CONCAT CPACK_DEBIAN_PACKAGE_DEPENDS
  "libegl1, libgl1, libopengl0, libgl1-mesa-dri, libx11-6, libxrandr2, libxinerama1, "
  "libxcursor1, libxi6, libxkbcommon0")
# cairo is for chapters as PDF.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcairo2, libwayland-client0, libwayland-cursor0, libwayland-egl1")
# For doctor --fetch-cuda, where no CUDA toolkit is.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pip, bash-completion")
include(CPack)
