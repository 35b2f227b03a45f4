"""CMSIS-NN in the build of a project: `-DMEMOPT_CMSIS_NN=ON`, or `make CMSIS_NN=1`.

A plan with `scratch = cmsis-nn-calls` counts the scratch of its functions; of another plan the
option is refused by the build, for nothing of it calls them. Several models are one program with
one CMSIS-NN.
"""

from collections.abc import Sequence

from memopt.backends.c.emit.layout import Layout
from memopt.targets.cmsis_nn import CALLED

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
