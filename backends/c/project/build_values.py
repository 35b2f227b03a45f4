"""Values that the builds of a project take: those of its target, and those of CMSIS-NN.

`-DMEMOPT_CMSIS_NN=ON`, or `make CMSIS_NN=1`, builds with CMSIS-NN. A plan with
`scratch = cmsis-nn-calls` counts the scratch of its functions; of another plan the option is
refused by the build, for nothing of it calls them. Several models are one program with one
CMSIS-NN.
"""

from collections.abc import Sequence

from memopt.backends.c.emit.layout import Layout
from memopt.targets.cmsis_nn import CALLED
from memopt.targets.core.target import Target

CLANG = """# clang compiles it with GCC's C library, which GCC links:
#   make CC="clang {}" LD={}
#
"""
MAKE = """\
# make CMSIS_NN=1 CMSIS_NN_DIR=...: int8 operators by the CMSIS-NN in that folder.
ifdef CMSIS_NN
ifeq ($(wildcard $(CMSIS_NN_DIR)/Include/arm_nnfunctions.h),)
$(error CMSIS_NN_DIR is no CMSIS-NN, it has no Include/arm_nnfunctions.h)
endif
CMSIS_NN_FLAGS = -DMEMOPT_CMSIS_NN -isystem $(CMSIS_NN_DIR)/Include
OBJECTS += $(patsubst $(CMSIS_NN_DIR)/Source/%.c,$(BUILD)/cmsis_nn/%.o,\\
  $(wildcard $(CMSIS_NN_DIR)/Source/*/*.c))
$(BUILD)/cmsis_nn/%.o: $(CMSIS_NN_DIR)/Source/%.c
	@mkdir -p $(@D)
	$(CC) $(ARCH) $(CFLAGS) -w -I$(CMSIS_NN_DIR)/Include -c $< -o $@
endif
"""
CMAKE = """
option(MEMOPT_CMSIS_NN "int8 operators by the CMSIS-NN in CMSIS_NN_DIR" OFF)
if(MEMOPT_CMSIS_NN)
  set(CMSIS_NN_DIR "" CACHE PATH "CMSIS-NN's folder")
  if(NOT EXISTS "${CMSIS_NN_DIR}/Include/arm_nnfunctions.h")
    message(FATAL_ERROR "CMSIS_NN_DIR is no CMSIS-NN, it has no Include/arm_nnfunctions.h")
  endif()
  file(GLOB CMSIS_NN_SOURCES "${CMSIS_NN_DIR}/Source/*/*.c")
  add_library(%(name)s_cmsis_nn STATIC ${CMSIS_NN_SOURCES})
  target_include_directories(%(name)s_cmsis_nn SYSTEM PUBLIC "${CMSIS_NN_DIR}/Include")
  target_compile_definitions(%(name)s_cmsis_nn PUBLIC MEMOPT_CMSIS_NN)
  foreach(library %(libraries)s)
    target_link_libraries(${library} PUBLIC %(name)s_cmsis_nn)
  endforeach()
endif()
"""
WITHOUT = "was planned without CMSIS-NN, see memopt compile --cmsis-nn"


def target_values(target: Target, program: str) -> dict[str, str]:
    """Return the values of the target that the templates of firmware/ name."""
    memory = "\n".join(f"  {n} : ORIGIN = {o}, LENGTH = {s}" for n, o, s in target.memories)
    common = {
        "compiler": target.compiler,
        "size": target.size,
        "arch": target.flags,
        "machine": target.emulator or "the host",
        "memory": memory,
        "constants": target.constants,
        "stack_bytes": str(target.stack),
    }
    if not target.emulator:
        return common | {
            "clang": "",
            "optimise": "-O2 -g",
            "ldflags": "",
            "link_script": "",
            "defines": "",
            "size_flags": "",
            "qemu_needed": "",
            "run_what": "runs it",
            "run_text": "runs it",
            "run_command": f"$(BUILD)/{program} $(IN) $(OUT) $(TRACE)",
        }
    script = next(f"platform/{f.removesuffix('.in')}" for f in target.platform if ".ld" in f)
    arguments = ",".join(["enable=on", "target=native", f"arg={program}"])
    return common | {
        "clang": CLANG.format(target.clang, target.compiler) if target.clang else "",
        "optimise": "-O2",
        "ldflags": f"-nostartfiles {target.libraries} -T {script} "
        "-Wl,--gc-sections -Wl,-Map=$(BUILD)/map.txt",
        "link_script": script,
        "defines": f"-ffunction-sections -fdata-sections -DTICK_NUMERATOR={target.ticks[0]}u "
        f"-DTICK_DENOMINATOR={target.ticks[1]}u ",
        "size_flags": "-A",
        "qemu_needed": f", and {target.qemu} to run it",
        "run_what": f"runs it in QEMU ({target.emulator})",
        "run_text": f"runs it in QEMU's {target.emulator}",
        "run_command": f"{target.qemu} -M {target.emulator} -nographic \\\n"
        "\t  -monitor none -serial none \\\n"
        f"\t  -icount shift=5,sleep=off {target.loads}$(BUILD)/{program} \\\n"
        f"\t  -semihosting-config {arguments},arg=$(IN),arg=$(OUT)"
        "$(if $(TRACE),$(comma)arg=$(TRACE))",
    }


def called_values(layouts: Sequence[Layout], name: str, libraries: Sequence[str]) -> dict[str, str]:
    """Return the templates' values for CMSIS-NN in a build, whose `libraries` have the kernels."""
    if any(layout.model.scratch.data == CALLED for layout in layouts):
        cmake = CMAKE % {"name": name, "libraries": " ".join(libraries)}
        return {"cmsis_nn_make": MAKE, "cmsis_nn_cmake": cmake}
    error = f"{name} {WITHOUT}"
    return {
        "cmsis_nn_make": f"ifdef CMSIS_NN\n$(error {error})\nendif\n",
        "cmsis_nn_cmake": f'if(MEMOPT_CMSIS_NN)\n  message(FATAL_ERROR "{error}")\nendif()\n',
    }
