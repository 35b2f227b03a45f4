"""A module for Zephyr: `zephyr/module.yml` with its Kconfig and CMake, and a sample.

By docs.zephyrproject.org, "Modules (External projects)", and the schema in Zephyr's
`scripts/zephyr_module.py`.
"""

from memopt.backends.c.project.example import package, program
from memopt.backends.c.project.project_files import Files, Project

MODULE = """\
name: memopt_@name@
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
"""
KCONFIG = """\
config MEMOPT_@NAME@
\tbool "The network @name@, written by memopt"
\thelp
\t  Adds @name@.h and what it declares: @arena@ bytes of arena, which
\t  the application gives, and no heap.
"""
CMAKE = """\
if(CONFIG_MEMOPT_@NAME@)
  zephyr_include_directories(../src)
  zephyr_library_named(memopt_@name@)
  zephyr_library_sources(../src/@name@.c)
@custom@endif()
"""
CUSTOM = """\
  file(GLOB CUSTOM ${CMAKE_CURRENT_LIST_DIR}/../custom/*.c)
  zephyr_library_sources(${CUSTOM})
"""
SAMPLE_CMAKE = """\
cmake_minimum_required(VERSION 3.20.0)
list(APPEND ZEPHYR_EXTRA_MODULES ${CMAKE_CURRENT_SOURCE_DIR}/../..)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(@name@_sample)
target_sources(app PRIVATE src/main.cpp)
"""
CONFIG = """\
CONFIG_CPP=y
CONFIG_MEMOPT_@NAME@=y
"""
HEAD = "#include <zephyr/kernel.h>\n\n"
SAY = 'static void say(const char *text) { printk("%s", text); }\n'
ENTRY = "int main(void) { return infer_and_show(); }\n"
HOW = """Name this folder in `ZEPHYR_EXTRA_MODULES` or in your west manifest, and set
`CONFIG_MEMOPT_@NAME@=y`. `west build -b BOARD samples/@name@` builds the sample, which quantises a
buffer as a sensor would fill it, runs the model and prints what comes out."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    layout = project.emitted.layout
    values = project.values | {
        "arena": str(layout.arena),
        "custom": CUSTOM if layout.is_custom else "",
    }
    sample = f"samples/{project.name}"
    texts = {
        "zephyr/module.yml": MODULE,
        "zephyr/Kconfig": KCONFIG,
        "zephyr/CMakeLists.txt": CMAKE,
        f"{sample}/CMakeLists.txt": SAMPLE_CMAKE,
        f"{sample}/prj.conf": CONFIG,
    }
    filled = {file: project.text(text, values) for file, text in texts.items()}
    main = f"{sample}/src/main.cpp"
    return package(project, filled, main, program(project, HEAD, SAY, ENTRY), HOW)
