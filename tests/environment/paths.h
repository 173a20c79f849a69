// Where the tests find what they work on. In a source of its own that CMake writes, so that no compiler's command line
// holds a folder's name and ccache serves every build folder.
#pragma once

#include <string>

namespace attn::test {

std::string source_folder();  // the root of the repository
std::string program();        // attnscope of this build

}  // namespace attn::test
