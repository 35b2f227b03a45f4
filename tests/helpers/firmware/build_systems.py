"""Trees of projects, built as the build systems of boards build them: arduino-cli, PlatformIO,
Zephyr, ESP-IDF and the Pico SDK, each with a stand-in for its packages."""

import re
import shutil
import subprocess
from pathlib import Path

from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.write import write_files
from memopt.targets.core.target import target_named

BOARDS = {"esp-idf": "riscv32", "pico": "cortex-m0plus"}  # what each builds for, if no Cortex-M4
BOARD = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
SECTIONS = "-ffunction-sections -fdata-sections"
LINK = f"-nostdlib {BOARD}"
LIBRARIES = "-Wl,--start-group -lc_nano -lm -lnosys -lgcc -Wl,--end-group"  # no C++ runtime
STRICT = "-Wall -Wextra -Werror"

# What a board's package has: an entry, and Serial, printk and stdout as the emulator shows them.
ENTRY = {
    "arduino": "void setup();\nvoid loop();\nstatic void run() { setup(); loop(); }\n",
    "platformio": "int app_main();\nstatic void run() { app_main(); }\n",
    "zephyr": "int app_main(void);\nstatic void run() { app_main(); }\n",
    "stm32cube": 'extern "C" void @name@_example(void);\nstatic void run() { @name@_example(); }\n',
    "pico": "int app_main();\nstatic void run() { app_main(); }\n",
    "esp-idf": 'extern "C" void app_main(void);\nstatic void run() { app_main(); }\n',
}
CORE = """
extern "C" {
#include "platform.h"
}
@entry@
extern "C" int _write(int, const char *text, int bytes) {
  char line[64];
  int k;
  for (k = 0; k < bytes && k < 63; ++k) {
    line[k] = text[k];
  }
  line[k] = 0;
  platform_print(line);
  return k;
}
extern "C" void *_sbrk(int bytes) { /* the heap of stdout */
  static char heap[8192];
  static int used;
  void *place = heap + used;
  used += (bytes + 7) & ~7;
  return used <= (int)sizeof heap ? place : (void *)-1;
}
extern "C" void __aeabi_unwind_cpp_pr0() {}
extern "C" void __aeabi_unwind_cpp_pr1() {}
extern "C" int model_main(const char *, const char *, const char *) {
  run();
  return 0;
}
"""
ARDUINO_H = """
#pragma once
#include <stdint.h>
extern "C" void platform_print(const char *text);
struct Port {
  void begin(long) {}
  void print(const char *text) { platform_print(text); }
};
static Port Serial;
inline void delay(unsigned long) {}
"""
KERNEL_H = """
#pragma once
#include <stdint.h>
extern "C" void platform_print(const char *text);
inline void printk(const char *, const char *text) { platform_print(text); }
"""
# Of what find_package(Zephyr) brings, what modules and samples use: prj.conf, ZEPHYR_EXTRA_MODULES,
# the library `app`, and the commands of a module (docs.zephyrproject.org, "extensions").
ZEPHYR = """
project(Zephyr-Kernel LANGUAGES C CXX)
add_library(zephyr_interface INTERFACE)
target_include_directories(zephyr_interface INTERFACE ${FAKE}/include)
add_library(app STATIC ${FAKE}/empty.c)
target_link_libraries(app PUBLIC zephyr_interface)
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/prj.conf lines)
foreach(line ${lines})
  string(REPLACE "=" ";" pair ${line})
  list(GET pair 0 key)
  list(GET pair 1 value)
  set(${key} ${value})
endforeach()
function(zephyr_include_directories folder)
  target_include_directories(zephyr_interface INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
endfunction()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC)
  target_link_libraries(${name} PUBLIC zephyr_interface)
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
foreach(module ${ZEPHYR_EXTRA_MODULES} ${MORE_MODULES})
  file(STRINGS ${module}/zephyr/module.yml folder REGEX "cmake: ")
  string(REGEX REPLACE ".*: " "" folder ${folder})
  get_filename_component(name ${module} REALPATH)
  get_filename_component(name ${name} NAME)
  add_subdirectory(${module}/${folder} ${CMAKE_BINARY_DIR}/modules/${name})
endforeach()
get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
add_executable(image ${FAKE}/core.cpp ${FAKE}/platform_board.c ${FAKE}/startup.c)
target_include_directories(image PRIVATE ${FAKE})
target_link_libraries(image PRIVATE -Wl,--whole-archive app ${libraries} -Wl,--no-whole-archive
  -Wl,--start-group c_nano m nosys gcc -Wl,--end-group)
"""

IMAGE = """
file(GLOB core ${FAKE}/core.cpp ${FAKE}/stdout.c ${FAKE}/platform_board.c ${FAKE}/startup*.c)
add_executable(image ${core})
target_include_directories(image PRIVATE ${FAKE})
target_link_libraries(image PRIVATE -Wl,--whole-archive ${libraries} -Wl,--no-whole-archive
  -Wl,--start-group ${LIBRARIES} -Wl,--end-group)
"""
# Of tools/cmake/project.cmake what components and projects use: every component, its Kconfig's
# defaults, and main, which requires all others (docs.espressif.com, "Build System").
ESP_IDF = f"""
function(idf_component_register)
  cmake_parse_arguments(of "" "" "SRCS;INCLUDE_DIRS" ${{ARGN}})
  add_library(${{COMPONENT_LIB}} STATIC ${{of_SRCS}})
  target_include_directories(${{COMPONENT_LIB}} PUBLIC ${{of_INCLUDE_DIRS}})
endfunction()
macro(project name)
  _project(${{name}} LANGUAGES C CXX)
  foreach(folder ${{EXTRA_COMPONENT_DIRS}} ${{MORE}} ${{CMAKE_CURRENT_SOURCE_DIR}}/main)
    get_filename_component(folder ${{folder}} REALPATH)
    get_filename_component(COMPONENT_NAME ${{folder}} NAME)
    set(COMPONENT_LIB __idf_${{COMPONENT_NAME}})
    if(EXISTS ${{folder}}/Kconfig)
      file(STRINGS ${{folder}}/Kconfig configs REGEX "^ *config ")
      foreach(config ${{configs}})
        string(REGEX REPLACE "^ *config " "CONFIG_" config ${{config}})
        set(${{config}} y)
      endforeach()
    endif()
    add_subdirectory(${{folder}} ${{CMAKE_BINARY_DIR}}/esp-idf/${{COMPONENT_NAME}})
    list(APPEND libraries ${{COMPONENT_LIB}})
  endforeach()
  list(REMOVE_ITEM libraries __idf_main)
  target_link_libraries(__idf_main PUBLIC ${{libraries}})
  list(APPEND libraries __idf_main)
{IMAGE}
endmacro()
"""
# Of the Pico SDK what examples use (the SDK's documentation, "Build system").
PICO = f"""
macro(pico_sdk_init)
  add_library(pico_stdlib INTERFACE)
  target_include_directories(pico_stdlib INTERFACE ${{FAKE}}/include)
endmacro()
macro(add_executable name)
  if(${{name}} STREQUAL image)
    _add_executable(${{ARGV}})
  else() # linked with the platform of the emulator
    add_library(${{name}} STATIC ${{ARGN}})
  endif()
endmacro()
macro(pico_enable_stdio_usb name yes)
endmacro()
macro(pico_add_extra_outputs name)
  foreach(folder ${{MORE}})
    get_filename_component(other ${{folder}} NAME)
    add_subdirectory(${{folder}} more_${{other}})
    list(APPEND libraries ${{other}})
  endforeach()
  list(APPEND libraries ${{name}})
{IMAGE}
endmacro()
"""
PICO_H = """
#pragma once
extern "C" void startup_exit(int code);
inline void stdio_init_all() {}
inline void sleep_ms(unsigned) { startup_exit(0); } /* after the first time */
"""

PICOLIBC_STDOUT = """
#include <stdio.h>
#include "platform.h"
static int put(char c, FILE *file) {
  const char text[2] = {c, 0};
  (void)file;
  platform_print(text);
  return 0;
}
static FILE file = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &file;
"""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def core(build: str, project: Project, folder: Path) -> None:
    """Write what stands for the package of a board."""
    write_files(project, folder / "make", "make")
    shutil.copytree(folder / "make" / "platform", folder / "core")
    entry = ENTRY[build].replace("@name@", project.name)
    (folder / "core" / "core.cpp").write_text(CORE.replace("@entry@", entry))
    (folder / "core" / "empty.c").write_text("typedef int nothing;\n")
    if "picolibc" in target_named(project.values["target"]).flags:
        (folder / "core" / "stdout.c").write_text(PICOLIBC_STDOUT)
    (folder / "core" / "Arduino.h").write_text(ARDUINO_H)
    (folder / "core" / "include" / "zephyr").mkdir(parents=True)
    (folder / "core" / "include" / "zephyr" / "kernel.h").write_text(KERNEL_H)
    (folder / "core" / "include" / "pico").mkdir()
    (folder / "core" / "include" / "pico" / "stdlib.h").write_text(PICO_H)


def objects(language: str, flags: str, sources: list[Path], folder: Path) -> list[str]:
    """Compile sources, all in one go; the paths of the objects."""
    compiler = "arm-none-eabi-g++" if language == "c++" else "arm-none-eabi-gcc"
    folder.mkdir(parents=True)
    tick = "-DTICK_NUMERATOR=5u -DTICK_DENOMINATOR=4u"
    run(
        compiler,
        "-c",
        *f"{BOARD} {SECTIONS} {tick} {flags}".split(),
        *map(str, sources),
        cwd=folder,
    )
    return [str(p) for p in sorted(folder.glob("*.o"))]


def linked(given: list[str], folder: Path) -> Path:
    platform = objects(
        "c",
        "-O1 -I../core",
        [folder / "core" / f for f in ("startup.c", "platform_board.c")],
        folder / "platform",
    )
    start = objects("c++", "-O1 -I../core", [folder / "core" / "core.cpp"], folder / "start")
    script = folder / "core" / "board.ld"
    image = folder / "image.elf"
    run(
        "arm-none-eabi-g++",
        *start,
        *platform,
        *given,
        *LINK.split(),
        "-T",
        str(script),
        *LIBRARIES.split(),
        "-o",
        str(image),
        cwd=folder,
    )
    return image


def arduino(tree: Path, name: str, folder: Path) -> Path:
    """Build as arduino-cli does: the sketch becomes C++, and every source of every library is
    compiled and linked."""
    sketch = tree / name / "examples" / name / f"{name}.ino"
    (folder / "sketch.cpp").write_text(f"#include <Arduino.h>\n{sketch.read_text()}")
    libraries = sorted(p.parent for p in tree.glob("*/library.properties"))
    include = " ".join(f"-I{p}/src" for p in libraries)
    flags = f"-Os -DARDUINO=10819 -I{folder}/core {include} {STRICT}"
    given = objects(
        "c++",
        f"-std=gnu++14 -fno-rtti -fno-exceptions {flags}",
        [folder / "sketch.cpp"],
        folder / "sketch",
    )
    for library in libraries:
        sources = sorted(library.glob("src/**/*.c"))
        given += objects("c", f"-std=gnu11 {flags}", sources, folder / library.name)
    return linked(given, folder)


def platformio(tree: Path, name: str, folder: Path) -> Path:
    """Build as PlatformIO does: an archive per library, and the program, without a framework."""
    libraries = sorted(p.parent for p in tree.glob("*/library.json"))
    include = " ".join(f"-I{p}/src" for p in libraries)
    source = tree / name / "examples" / name / "src" / "main.cpp"
    flags = f"-Os -DPLATFORMIO=60118 {include} {STRICT}"
    given = objects("c++", f"-std=gnu++17 -Dmain=app_main {flags}", [source], folder / "program")
    archives: list[str] = []
    for library in libraries:
        sources = sorted(library.glob("src/**/*.c"))
        made = objects("c", f"-std=gnu17 {flags}", sources, folder / library.name)
        archives.append(str(folder / f"lib{library.name}.a"))
        run("arm-none-eabi-ar", "rcs", archives[-1], *made, cwd=folder)
    return linked([*given, "-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive"], folder)


def zephyr(tree: Path, name: str, folder: Path) -> Path:
    """Build as west does: CMake configures the sample; it finds Zephyr, which finds the modules."""
    (folder / "package").mkdir()
    (folder / "package" / "ZephyrConfig.cmake").write_text(ZEPHYR)
    sample = tree / name / "samples" / name
    others = [p.parent.parent for p in tree.glob("*/zephyr/module.yml") if p.parts[-3] != name]
    with (sample / "prj.conf").open("a") as file:  # both modules are asked for
        file.writelines(f"CONFIG_MEMOPT_{p.name.upper()}=y\n" for p in others)
    flags = f"{BOARD} {SECTIONS} -Os -DTICK_NUMERATOR=5u -DTICK_DENOMINATOR=4u"
    run(
        *("cmake", "-S", str(sample), "-B", str(folder / "build"), "-DCMAKE_SYSTEM_NAME=Generic"),
        *("-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++"),
        *(f"-DZephyr_DIR={folder}/package", f"-DFAKE={folder}/core", "-DCMAKE_BUILD_TYPE="),
        *("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_C_FLAGS={flags}"),
        *(f"-DMORE_MODULES={';'.join(map(str, others))}",),
        f"-DCMAKE_CXX_FLAGS={flags} -Dmain=app_main",
        f"-DCMAKE_EXE_LINKER_FLAGS={LINK} -T {folder}/core/board.ld",
        cwd=folder,
    )
    run("cmake", "--build", str(folder / "build"), cwd=folder)
    return folder / "build" / "image"


def configured(
    example: Path, folder: Path, build: str, more: list[Path], entry: str, variable: str = ""
) -> Path:
    """Build an example by CMake, with the other models beside it."""
    board = target_named(BOARDS.get(build, "cortex-m4"))
    numerator, denominator = board.ticks
    ticks = f"-DTICK_NUMERATOR={numerator}u -DTICK_DENOMINATOR={denominator}u"
    flags = f"{board.flags} {SECTIONS} -Os {STRICT} {ticks}"
    libraries = "c;m;gcc" if board.family == "riscv" else "c_nano;m;nosys;gcc"
    command = (
        *("cmake", "-S", str(example), "-B", str(folder / "build"), "-DCMAKE_SYSTEM_NAME=Generic"),
        f"-DCMAKE_C_COMPILER={board.compiler}",
        f"-DCMAKE_CXX_COMPILER={board.compiler.removesuffix('gcc')}g++",
        f"-DCMAKE_ASM_COMPILER={board.compiler}",
        *(f"-DFAKE={folder}/core", "-DCMAKE_BUILD_TYPE=", f"-DMORE={';'.join(map(str, more))}"),
        *("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_C_FLAGS={flags}"),
        *(f"-DCMAKE_CXX_FLAGS={flags} {entry}", f"-DLIBRARIES={libraries}"),
        f"-DCMAKE_EXE_LINKER_FLAGS=-nostdlib -Wl,--no-gc-sections -T {folder}/core/board.ld",
    )
    run("env", *filter(None, [variable]), *command, cwd=folder)
    run("cmake", "--build", str(folder / "build"), cwd=folder)
    return folder / "build" / "image"


def esp_idf(tree: Path, name: str, folder: Path) -> Path:
    """Build as idf.py does: CMake configures the project, which finds its components."""
    idf = folder / "idf" / "tools" / "cmake"
    idf.mkdir(parents=True)
    (idf / "project.cmake").write_text(ESP_IDF)
    others = [p.parent for p in tree.glob("*/idf_component.yml") if p.parent.name != name]
    example = tree / name / "examples" / name
    return configured(example, folder, "esp-idf", others, "", f"IDF_PATH={folder}/idf")


def stm32cube(tree: Path, name: str, folder: Path) -> Path:
    """Build as a CMake project of CubeMX does, by the lines of the README, with all middleware."""
    shutil.copytree(tree / name / "Core", folder / "cube" / "Core")
    names = sorted(p.name for p in tree.iterdir())
    for other in names:
        middleware = tree / other / "Middlewares"
        shutil.copytree(middleware, folder / "cube" / "Middlewares", dirs_exist_ok=True)
    page = (tree / name / "README.md").read_text()
    (given,) = re.findall(r"^```cmake\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    more = "".join(f"add_subdirectory(Middlewares/Third_Party/{n})\n" for n in names if n != name)
    (folder / "cube" / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(cube C CXX ASM)\n"
        f"add_library(cube STATIC)\n{given}{more}set(libraries cube {' '.join(names)})\n{IMAGE}"
    )
    return configured(folder / "cube", folder, "stm32cube", [], "")


def pico(tree: Path, name: str, folder: Path) -> Path:
    """Build as the Pico SDK's CMake does."""
    sdk = folder / "sdk" / "external"
    sdk.mkdir(parents=True)
    (sdk / "pico_sdk_import.cmake").write_text(PICO)
    others = [p.parent for p in tree.glob("*/CMakeLists.txt") if p.parent.name != name]
    example = tree / name / "examples" / name
    sdk_path = f"PICO_SDK_PATH={folder}/sdk"
    return configured(example, folder, "pico", others, "-Dmain=app_main", sdk_path)


BUILDERS = {
    "arduino": arduino,
    "esp-idf": esp_idf,
    "pico": pico,
    "platformio": platformio,
    "stm32cube": stm32cube,
    "zephyr": zephyr,
}
