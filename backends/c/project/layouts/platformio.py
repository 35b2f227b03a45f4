"""A library for PlatformIO: `library.json`, `src/` and an example, with the Arduino framework or
any whose C library prints.

By docs.platformio.org, "library.json", and the schema in its repository (`platformio-core`,
`platformio/assets/schema/library.json`).
"""

import json

from memopt.backends.c.project.example import package, program
from memopt.backends.c.project.project_files import Files, Project

HEAD = """\
#ifdef ARDUINO
#include <Arduino.h>
#else
#include <stdio.h>
#endif

"""
SAY = """\
#ifdef ARDUINO
static void say(const char *text) { Serial.print(text); }
#else
static void say(const char *text) { fputs(text, stdout); }
#endif
"""
ENTRY = """\
#ifdef ARDUINO
void setup() { Serial.begin(115200); }

void loop() {
  infer_and_show();
  delay(1000);
}
#else
int main() { return infer_and_show(); }
#endif
"""
HOW = """Copy this folder into the `lib/` of your project, or name it in `platformio.ini`:
`lib_deps = symlink://path/to/@name@`. `examples/@name@/src/main.cpp` is a whole program, which
quantises a buffer as a sensor would fill it, runs the model and prints what comes out."""
NAME = 50  # letters of a library's name, by the schema


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    name = project.name
    example = f"examples/{name}"
    manifest = {
        "$schema": "https://raw.githubusercontent.com/platformio/platformio-core/develop/platformio/"
        "assets/schema/library.json",
        "name": f"memopt_{name}"[:NAME],
        "version": "1.0.0",
        "description": f"The network {name[:NAME]} as C, by memopt for {project.target.name}",
        "keywords": ["tinyml", "neural-network"],
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{name}.h",
        "examples": [{"name": name[:NAME], "base": example, "files": ["src/main.cpp"]}],
    }
    texts = {"library.json": json.dumps(manifest, indent=2) + "\n"}
    main = f"{example}/src/main.cpp"
    return package(project, texts, main, program(project, HEAD, SAY, ENTRY), HOW)
