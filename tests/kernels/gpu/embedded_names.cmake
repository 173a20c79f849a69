# Two CUDA sources of one name, in two folders: configuring must stop and name them, since a source is known by its
# file's name alone. Run with -P; EMBED is kernels/gpu/embed.cmake.
cmake_minimum_required(VERSION 3.25)
include("${EMBED}")
attnscope_embed("unused.cpp" "first/flash_new.cu" "second/flash_new.cu")
