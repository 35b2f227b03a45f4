"""A component for ESP-IDF: its CMake, Kconfig and manifest, and an example project.

By docs.espressif.com, "Build System" and "Component CMakeLists Files" of ESP-IDF, and "Manifest
File" of its component manager.
"""

from memopt.backends.c.project.example import package, program
from memopt.backends.c.project.project_files import Files, Project

CMAKE = """\
@custom@idf_component_register(SRCS "src/@name@.c"@sources@ INCLUDE_DIRS "src")
if(CONFIG_MEMOPT_@NAME@_SPEED)
  target_compile_options(${COMPONENT_LIB} PRIVATE -O2)
endif()
"""
CUSTOM = "file(GLOB CUSTOM ${CMAKE_CURRENT_LIST_DIR}/custom/*.c)\n"
KCONFIG = """\
menu "The network @name@, written by memopt"

    config MEMOPT_@NAME@_SPEED
        bool "Compile it for speed"
        default y
        help
            With -O2, whatever the rest of the application is compiled with. It needs @arena@
            bytes of arena, which the application gives, and no heap.

endmenu
"""
MANIFEST = """\
version: "1.0.0"
description: The network @name@ as C, written by memopt
dependencies:
  idf: ">=4.4"
"""
EXAMPLE = """\
cmake_minimum_required(VERSION 3.16)
set(EXTRA_COMPONENT_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/../..")
include($ENV{IDF_PATH}/tools/cmake/project.cmake)
project(@name@_example)
"""
MAIN = 'idf_component_register(SRCS "main.cpp")\n'
HEAD = "#include <stdio.h>\n\n"
SAY = "static void say(const char *text) { fputs(text, stdout); }\n"
ENTRY = 'extern "C" void app_main(void) { infer_and_show(); }\n'
HOW = """Put this folder into `components/` of your project, or name it in `EXTRA_COMPONENT_DIRS`.
`idf.py -C examples/@name@ build` builds the example, which quantises a buffer as a sensor would
fill it, runs the model and prints what comes out."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    layout = project.emitted.layout
    values = project.values | {
        "arena": str(layout.arena),
        "custom": CUSTOM if layout.is_custom else "",
        "sources": " ${CUSTOM}" if layout.is_custom else "",
    }
    example = f"examples/{project.name}"
    texts = {
        "CMakeLists.txt": CMAKE,
        "Kconfig": KCONFIG,
        "idf_component.yml": MANIFEST,
        f"{example}/CMakeLists.txt": EXAMPLE,
        f"{example}/main/CMakeLists.txt": MAIN,
    }
    filled = {file: project.text(text, values) for file, text in texts.items()}
    main = f"{example}/main/main.cpp"
    return package(project, filled, main, program(project, HEAD, SAY, ENTRY), HOW)
