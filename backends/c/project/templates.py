"""Values that the templates of firmware/ take from a target."""

from memopt.targets.core.target import Target

CLANG = """# clang compiles it with GCC's C library, which GCC links:
#   make CC="clang --target=arm-none-eabi -fshort-enums -isystem NEWLIB_HEADERS" LD={}
#
"""


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
    script = "platform/cortex_m.ld"
    arguments = ",".join(["enable=on", "target=native", f"arg={program}"])
    return common | {
        "clang": CLANG.format(target.compiler),
        "optimise": "-O2",
        "ldflags": f"-nostartfiles --specs=nano.specs --specs=nosys.specs -T {script} "
        "-Wl,--gc-sections -Wl,-Map=$(BUILD)/map.txt",
        "link_script": script,
        "defines": f"-ffunction-sections -fdata-sections -DTICK_NUMERATOR={target.ticks[0]}u "
        f"-DTICK_DENOMINATOR={target.ticks[1]}u ",
        "size_flags": "-A",
        "qemu_needed": ", and qemu-system-arm to run it",
        "run_what": f"runs it in QEMU ({target.emulator})",
        "run_text": f"runs it in QEMU's {target.emulator}",
        "run_command": f"qemu-system-arm -M {target.emulator} -nographic \\\n"
        "\t  -monitor none -serial none \\\n"
        f"\t  -icount shift=5,sleep=off -kernel $(BUILD)/{program} \\\n"
        f"\t  -semihosting-config {arguments},arg=$(IN),arg=$(OUT)"
        "$(if $(TRACE),$(comma)arg=$(TRACE))",
    }
