"""A library for Arduino: `library.properties`, `src/` and an example sketch.

By the library specification 1.5, revision 2.2 (arduino.github.io/arduino-cli, "Library
specification"). Every source below `src/` is compiled, of all libraries in one program: so the
model is one source without public kernels.
"""

from memopt.backends.c.project.example import package, program
from memopt.backends.c.project.project_files import Files, Project

PROPERTIES = """\
name=memopt_@short@
version=1.0.0
author=memopt
maintainer=memopt
sentence=The network @name@ as C.
paragraph=Written by memopt for @target@: no allocation, weights in flash, @arena@ bytes of arena.
category=Data Processing
url=about:blank
architectures=*
includes=@name@.h
"""
HEAD = "#include <Arduino.h>\n\n"
SAY = "static void say(const char *text) { Serial.print(text); }\n"
ENTRY = """\
void setup() { Serial.begin(115200); }

void loop() {
  infer_and_show();
  delay(1000);
}
"""
HOW = """Copy this folder into the `libraries/` of your sketchbook, or give it to
`arduino-cli compile --library`; `File > Examples` then has the sketch, which quantises a buffer as
a sensor would fill it, runs the model and prints what comes out."""
LONGEST = 63 - len("memopt_")  # of a library's name


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    values = project.values | {
        "short": project.name[:LONGEST],
        "arena": str(project.emitted.layout.arena),
    }
    sketch = project.name[:LONGEST]
    texts = {"library.properties": project.text(PROPERTIES, values)}
    main = f"examples/{sketch}/{sketch}.ino"
    return package(project, texts, main, program(project, HEAD, SAY, ENTRY), HOW)
