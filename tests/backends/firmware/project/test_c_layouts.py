"""Projects for the builds that firmware is made with: their manifests by the published schemas,
compiled as those builds do, two models in one tree, run on a Cortex-M4, equal to TFLM."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_functions import assign_function
from xdsl.context import Context

from memopt.backends.c.project.layouts import layout_names
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.write import make_project, write_files
from memopt.cli import main as memopt
from memopt.compile.driver import load_text, new_context
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.targets.core.target import target_named

STREAMED, WHOLE = "tinymaix_mnist_resnet_int8", "dscnn_kws_int8"
MODELS = (STREAMED, WHOLE)
BUILDS = ("arduino", "esp-idf", "pico", "platformio", "zephyr")
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
add_executable(image ${FAKE}/core.cpp ${FAKE}/platform_board.c ${FAKE}/startup.c)
target_include_directories(image PRIVATE ${FAKE})
target_link_libraries(image PRIVATE -Wl,--whole-archive ${libraries} -Wl,--no-whole-archive
  -Wl,--start-group c_nano m nosys gcc -Wl,--end-group)
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


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def projects(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The models for a Cortex-M4, one of which is fed row by row."""
    found: dict[str, Project] = {}
    for name in MODELS:
        out = tmp_path_factory.mktemp("plans") / name
        flags = ["--stream-input"] if name == STREAMED else ["--rows=none"]
        model = str(shared / "models" / f"{name}.tflite")
        assert memopt(["compile", model, "--target=cortex-m4", *flags, "-o", str(out)]) == 0
        path = out / "plan.mlir"
        module = load_text(new_context(True), path.read_text(), str(path))
        found[name] = make_project(module, name, "cortex-m4")
    return found


@pytest.fixture(scope="module")
def wanted(shared: Path, tmp_path_factory: pytest.TempPathFactory, lab: Any) -> dict[str, Any]:
    """What TFLM says of the examples' patterns."""
    found: dict[str, Any] = {}
    for name in MODELS:
        path = shared / "models" / f"{name}.tflite"
        function = lab.main_of(lab.read_model(path))
        (argument,) = function.body.block.args
        shape = (1, *argument.type.get_shape())
        pattern = np.arange(np.prod(shape), dtype=np.uint32) * np.uint32(40503) % 256
        inputs = [(pattern.astype(np.int64) - 128).astype(np.int8).reshape(shape)]
        tensor = lab.source_tensor(function.body.block.last_op.operands[0])
        work = tmp_path_factory.mktemp("tflm")
        found[name] = lab.golden("tflm", path, inputs, [tensor], work)[tensor].reshape(-1)
    return found


# -- compiled as each build does ------------------------------------------------------------------


def core(build: str, project: Project, folder: Path) -> None:
    """What stands for the package of a board."""
    write_files(project, folder / "make", "make")
    shutil.copytree(folder / "make" / "platform", folder / "core")
    (folder / "core" / "core.cpp").write_text(CORE.replace("@entry@", ENTRY[build]))
    (folder / "core" / "empty.c").write_text("typedef int nothing;\n")
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
    """As arduino-cli: the sketch becomes C++, and every source of every library is compiled and
    linked."""
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
    """As PlatformIO: an archive per library, the program's sources, without a framework."""
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
    """As west build: CMake configures the sample, which finds Zephyr, which finds the modules."""
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
    example: Path, folder: Path, more: list[Path], entry: str, variables: dict[str, str]
) -> Path:
    """Build an example by CMake, with the other models beside it."""
    flags = f"{BOARD} {SECTIONS} -Os -DTICK_NUMERATOR=5u -DTICK_DENOMINATOR=4u"
    command = (
        *("cmake", "-S", str(example), "-B", str(folder / "build"), "-DCMAKE_SYSTEM_NAME=Generic"),
        *("-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++"),
        *(f"-DFAKE={folder}/core", "-DCMAKE_BUILD_TYPE=", f"-DMORE={';'.join(map(str, more))}"),
        *("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_C_FLAGS={flags}"),
        *(f"-DCMAKE_CXX_FLAGS={flags} {entry}", "-DCMAKE_ASM_COMPILER=arm-none-eabi-gcc"),
        f"-DCMAKE_EXE_LINKER_FLAGS={LINK} -T {folder}/core/board.ld",
    )
    run("env", *(f"{key}={value}" for key, value in variables.items()), *command, cwd=folder)
    run("cmake", "--build", str(folder / "build"), cwd=folder)
    return folder / "build" / "image"


def esp_idf(tree: Path, name: str, folder: Path) -> Path:
    """As idf.py build: CMake configures the project, which finds its components."""
    idf = folder / "idf" / "tools" / "cmake"
    idf.mkdir(parents=True)
    (idf / "project.cmake").write_text(ESP_IDF)
    others = [p.parent for p in tree.glob("*/idf_component.yml") if p.parent.name != name]
    example = tree / name / "examples" / name
    return configured(example, folder, others, "", {"IDF_PATH": f"{folder}/idf"})


def pico(tree: Path, name: str, folder: Path) -> Path:
    """As the Pico SDK's CMake."""
    sdk = folder / "sdk" / "external"
    sdk.mkdir(parents=True)
    (sdk / "pico_sdk_import.cmake").write_text(PICO)
    others = [p.parent for p in tree.glob("*/CMakeLists.txt") if p.parent.name != name]
    example = tree / name / "examples" / name
    sdk_path = {"PICO_SDK_PATH": f"{folder}/sdk"}
    return configured(example, folder, others, "-Dmain=app_main", sdk_path)


@pytest.mark.deep
@pytest.mark.parametrize("build", BUILDS)
def test_two_models_in_one_tree(
    build: str, projects: dict[str, Project], wanted: dict[str, Any], tmp_path: Path, lab: Any
) -> None:
    """Both libraries are in both programs; each prints what TFLM computes."""
    lab.need_tools("cortex-m4")
    if shutil.which("arm-none-eabi-g++") is None or shutil.which("cmake") is None:
        pytest.skip("needs arm-none-eabi-g++ and cmake")
    tree = tmp_path / "tree"
    for name, project in projects.items():
        write_files(project, tree / name, build)
    for name, project in projects.items():
        folder = tmp_path / name
        folder.mkdir()
        core(build, project, folder)
        builder = {"arduino": arduino, "platformio": platformio, "zephyr": zephyr}
        builder |= {"esp-idf": esp_idf, "pico": pico}
        image = builder[build](tree, name, folder)
        said = run(
            *("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none"),
            *("-serial", "none", "-kernel", str(image), "-semihosting-config"),
            "enable=on,target=native,arg=program,arg=in,arg=out",
            cwd=tmp_path,
        )
        got = [
            int(n)
            for n in re.findall(rf"^{name} output 0 \[\d+\] = (-?\d+) \(", said, re.MULTILINE)
        ]
        assert got == list(wanted[name]), said
        assert len(set(got)) > 1
        symbols = run("arm-none-eabi-nm", str(image), cwd=tmp_path)
        for other in MODELS:  # streamed, nothing calls the whole run
            assert f" T {other}_{'start' if other == STREAMED else 'run'}" in symbols


def test_a_component_compiles_for_an_esp32c3(projects: dict[str, Project], tmp_path: Path) -> None:
    """For its RV32IMC, with the warnings of ESP-IDF; no compiler for Xtensa is in Debian."""
    board = target_named("riscv32")
    gcc = board.compiler
    if shutil.which(gcc) is None:
        pytest.skip(f"needs {gcc}")
    for name, project in projects.items():
        write_files(project, tmp_path / name, "esp-idf")
        sources = sorted(str(p) for p in (tmp_path / name / "src").glob("*.c"))
        assert sources
        flags = [*board.flags.split(), "-O2", "-Wall", "-Wextra", "-Werror"]
        run(gcc, *flags, "-c", *sources, cwd=tmp_path)
        assert (tmp_path / f"{name}.o").stat().st_size > 0


# -- manifests, by what is published of them ------------------------------------------------------

NAME = re.compile(r"(?!arduino)[a-zA-Z][a-zA-Z0-9 _.-]{0,62}", re.IGNORECASE)
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
CATEGORIES = (
    *("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing"),
    *("Data Storage", "Data Processing", "Other"),
)


def test_library_properties(projects: dict[str, Project], tmp_path: Path) -> None:
    """arduino-lint's schema of library.properties, and the specification's of folders."""
    for name, project in projects.items():
        folder = tmp_path / name
        write_files(project, folder, "arduino")
        lines = (folder / "library.properties").read_text().splitlines()
        found = dict(line.split("=", 1) for line in lines)
        assert len(found) == len(lines)
        required = "name version author maintainer sentence paragraph category url architectures"
        assert set(required.split()) <= set(found) <= {*required.split(), "includes"}
        assert all(found.values())
        assert NAME.fullmatch(found["name"])
        assert SEMVER.fullmatch(found["version"])
        assert not found["maintainer"].lower().startswith("arduino")
        assert found["category"] in CATEGORIES
        assert re.fullmatch(r"[a-z][a-z0-9+.-]*:\S+", found["url"])
        assert (folder / "src" / found["includes"]).is_file()
        (sketch,) = folder.glob("examples/*/*.ino")
        assert sketch.stem == sketch.parent.name
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", sketch.stem)


def test_library_json(projects: dict[str, Project], tmp_path: Path) -> None:
    """PlatformIO's schema of manifests: types, lengths and patterns of all that stands there."""
    patterns = {
        "$schema": r"https://\S+/library\.json",
        "name": r"[^:;/,@<>]{1,50}",
        "version": r"(?=.{1,20}$)\d+\.\d+\.\d+",
        "description": r".{1,255}",
        "frameworks": r"[a-z\d_-]+|\*",
        "platforms": r"[a-z\d_-]+|\*",
        "headers": r"\w+\.h",
    }
    long = replace(projects[STREAMED], name="a" * 90)
    for name, project in [*projects.items(), (long.name, long)]:
        folder = tmp_path / name
        write_files(project, folder, "platformio")
        found = json.loads((folder / "library.json").read_text())
        assert set(found) == {*patterns, "keywords", "examples"}
        for key, pattern in patterns.items():
            assert re.fullmatch(pattern, found[key]), key
        assert all(re.fullmatch(r"[a-z\d][a-z\d+. -]{0,49}", word) for word in found["keywords"])
        assert (folder / "src" / found["headers"]).is_file()
        for example in found["examples"]:
            assert set(example) == {"name", "base", "files"}
            assert re.fullmatch(r"[a-zA-Z\d_/-]{1,100}", example["name"])
            assert all((folder / example["base"] / file).is_file() for file in example["files"])


def test_module_yml(projects: dict[str, Project], tmp_path: Path) -> None:
    """The schema in Zephyr's zephyr_module.py, and what it says of the files that are named."""
    for name, project in projects.items():
        folder = tmp_path / name
        write_files(project, folder, "zephyr")
        text = (folder / "zephyr" / "module.yml").read_text()
        shape = r"name: (\w+)\nbuild:\n  cmake: (\S+)\n  kconfig: (\S+)\n"
        found = re.fullmatch(shape, text)
        assert found is not None
        assert (folder / found[2] / "CMakeLists.txt").is_file()
        kconfig = (folder / found[3]).read_text()
        symbol = re.match(r'config (MEMOPT_[A-Z0-9_]+)\n\tbool "[^"]+"\n\thelp\n\t  ', kconfig)
        assert symbol is not None
        sample = folder / "samples" / name
        assert f"CONFIG_{symbol[1]}=y" in (sample / "prj.conf").read_text().splitlines()
        assert f"if(CONFIG_{symbol[1]})" in (folder / "zephyr" / "CMakeLists.txt").read_text()


# -- what else can be planned ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arena", "caller", "objects", "memories", "float"])
def test_examples_of_every_kind_of_memory(
    kind: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Built with the single source, and run."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    model = {"io": "caller"} if kind == "caller" else {}
    name = "hello_world_float" if kind == "float" else "keyword_scrambled_int8"
    module = lab.read_model(shared / "models" / f"{name}.tflite")
    if kind in ("arena", "caller", "float"):
        lab.plan(module, target="host", **model)
    else:
        lab.ordered(module, target="host")
    if kind == "objects":
        MemgraphPlacePass("shared-objects").apply(Context(), module)
    elif kind == "memories":
        assign_function(lab.main_of(module), parse_banks("fast:32K,slow:320K"), True)
    project = make_project(module, "net", "host")
    for layout in layout_names():
        write_files(project, tmp_path / layout, layout)
        assert "net_run" in (tmp_path / layout / "README.md").read_text()
    library = tmp_path / "platformio"
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run("cc", "-std=c99", *STRICT.split(), *sanitize, "-c", "src/net.c", cwd=library)
    run(
        "g++",
        *STRICT.split(),
        *sanitize,
        "-Isrc",
        "examples/net/src/main.cpp",
        "net.o",
        "-lm",
        "-o",
        "net",
        cwd=library,
    )
    said = run("./net", cwd=library)
    shape = r"(-?\d+\.\d{3})" if kind == "float" else r"(-?\d+)( \(-?\d+\.\d{3}\))?"
    assert re.fullmatch(rf"(net output \d+ \[\d+\] = {shape}\n)+", said)


def test_the_command_writes_a_layout(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And measures what it would with make; only C has one."""
    model = str(shared / "models" / "hello_world_int8.tflite")
    measured: list[Any] = []
    for layout in ("make", "arduino"):
        out = tmp_path / layout
        flags = [f"--layout={layout}", "--target=cortex-m4", "-o", str(out)]
        assert memopt(["compile", model, *flags]) == 0
        measured.append(json.loads((out / "report.json").read_text())["target"])
    assert measured[0] == measured[1]
    assert not (tmp_path / "arduino" / "Makefile").exists()
    capsys.readouterr()
    wrong = ["--layout=arduino", "--target=tflm", "-o", str(tmp_path / "no")]
    assert memopt(["compile", model, *wrong]) == 2
    assert "--layout=arduino is of C targets" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
