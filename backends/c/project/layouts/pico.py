"""A library for the Pico SDK (RP2040, RP2350) and an example that prints by USB.

By the Raspberry Pi Pico C/C++ SDK's documentation, "Build system".
"""

from memopt.backends.c.project.example import package, program
from memopt.backends.c.project.project_files import Files, Project

CMAKE = """\
# add_subdirectory(PATH_OF_THIS_FOLDER), then target_link_libraries(YOURS @name@).
add_library(@name@ STATIC src/@name@.c@sources@)
target_include_directories(@name@ PUBLIC ${CMAKE_CURRENT_LIST_DIR}/src)
target_compile_options(@name@ PRIVATE -O2)
"""
CUSTOM = "file(GLOB CUSTOM ${CMAKE_CURRENT_LIST_DIR}/custom/*.c)\n"
EXAMPLE = """\
cmake_minimum_required(VERSION 3.13)
include($ENV{PICO_SDK_PATH}/external/pico_sdk_import.cmake)
project(@name@_example C CXX ASM)
pico_sdk_init()
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/../.. @name@)
add_executable(@name@_example main.cpp)
target_link_libraries(@name@_example pico_stdlib @name@)
pico_enable_stdio_usb(@name@_example 1)
pico_add_extra_outputs(@name@_example)
"""
HEAD = "#include <stdio.h>\n#include <pico/stdlib.h>\n\n"
SAY = "static void say(const char *text) { fputs(text, stdout); }\n"
ENTRY = """\
int main() {
  stdio_init_all();
  for (;;) {
    infer_and_show();
    sleep_ms(1000);
  }
}
"""
HOW = """`add_subdirectory` this folder in your CMake and link `@name@`. The example, built by
`cmake -S examples/@name@ -B build -DPICO_BOARD=pico2 && cmake --build build` with `PICO_SDK_PATH`
set, quantises a buffer as a sensor would fill it, runs the model and prints what comes out, once a
second. `--target=cortex-m0plus` is the RP2040, `--target=cortex-m33` the RP2350."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    is_custom = project.emitted.layout.is_custom
    values = project.values | {"sources": " ${CUSTOM}" if is_custom else ""}
    example = f"examples/{project.name}"
    texts = {
        "CMakeLists.txt": (CUSTOM if is_custom else "") + CMAKE,
        f"{example}/CMakeLists.txt": EXAMPLE,
    }
    filled = {file: project.text(text, values) for file, text in texts.items()}
    main = f"{example}/main.cpp"
    return package(project, filled, main, program(project, HEAD, SAY, ENTRY), HOW)
