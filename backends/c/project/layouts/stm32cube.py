"""Middleware for a project of STM32CubeMX or STM32CubeIDE, and a source that runs it in Core/Src.

By ST's UM1718 (CubeMX) and UM2609 (CubeIDE): libraries lie in Middlewares/Third_Party/<name>, with
Inc and Src; CubeMX's CMake projects take them by add_subdirectory, CubeIDE as source folders.
"""

from memopt.backends.c.project.example import library, program, readme
from memopt.backends.c.project.project_files import Files, Project

CMAKE = """\
@custom@add_library(@name@ STATIC Src/@name@.c@sources@)
target_include_directories(@name@ PUBLIC ${CMAKE_CURRENT_LIST_DIR}/Inc)
target_compile_options(@name@ PRIVATE -O2)
"""
CUSTOM = "file(GLOB CUSTOM ${CMAKE_CURRENT_LIST_DIR}/custom/*.c)\n"
HEAD = "#include <stdio.h>\n\n"
SAY = "static void say(const char *text) { fputs(text, stdout); }\n"
ENTRY = """\
void @name@_example(void);

/* To be called in main.c, behind USER CODE BEGIN 2; stdout goes where your _write sends it. */
void @name@_example(void) { (void)infer_and_show(); }
"""
HOW = """Copy `Middlewares` and `Core` over those of your project. `--target` is the core of your
part: `cortex-m4` for an F4, G4, L4 or WB, `cortex-m7` for an F7 or H7, `cortex-m33` for an L5, U5
or H5.

**CubeMX's CMake project.** In its `CMakeLists.txt`, behind `add_subdirectory(cmake/stm32cubemx)`:

```cmake
add_subdirectory(Middlewares/Third_Party/@name@)
target_sources(${CMAKE_PROJECT_NAME} PRIVATE Core/Src/@name@_example.c)
target_link_libraries(${CMAKE_PROJECT_NAME} @name@)
```

**CubeIDE.** Properties, C/C++ General, Paths and Symbols: add `Middlewares/Third_Party/@name@/Inc`
to the includes, `Middlewares` to the source locations, if they are not there.

`void @name@_example(void)`, called in `main.c` behind `USER CODE BEGIN 2`, quantises a buffer as a
sensor would fill it, runs the model and prints what comes out. CubeMX leaves these files alone."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    is_custom, name = project.emitted.layout.is_custom, project.name
    values = project.values | {
        "custom": CUSTOM if is_custom else "",
        "sources": " ${CUSTOM}" if is_custom else "",
    }
    folder, texts = f"Middlewares/Third_Party/{name}", library(project, "")
    return {
        f"{folder}/Inc/{name}.h": texts[f"{name}.h"],
        f"{folder}/Src/{name}.c": texts[f"{name}.c"],
        f"{folder}/CMakeLists.txt": project.text(CMAKE, values),
        f"Core/Src/{name}_example.c": program(project, HEAD, SAY, project.text(ENTRY)),
        "README.md": readme(project, HOW),
    }
