"""The targets: compilers, flags, memories, and the QEMU machine that runs each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """`memories` are (name, start, bytes); weights and code go to FLASH unless `constants` says.
    `rooms` are more memory of the board, (start, bytes), where a plan's banks can be.

    One SysTick tick is `ticks[0] / ticks[1]` instructions under QEMU's `-icount shift=5`.
    """

    compiler: str
    size: str
    arch: str
    platform: tuple[str, ...]
    qemu: str = ""
    memories: tuple[tuple[str, str, str], ...] = ()
    constants: str = "FLASH"
    rooms: tuple[tuple[int, int], ...] = ()
    ticks: tuple[int, int] = (1, 1)

    def values(self, program: str) -> dict[str, str]:
        """What the templates of firmware/ need to know of the machine."""
        memory = "\n".join(f"  {n} : ORIGIN = {o}, LENGTH = {s}" for n, o, s in self.memories)
        common = {
            "compiler": self.compiler,
            "size": self.size,
            "arch": self.arch,
            "machine": self.qemu or "the host",
            "memory": memory,
            "constants": self.constants,
            "stack_bytes": str(STACK_BYTES),
        }
        if not self.qemu:
            return common | {
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
            "optimise": "-O2",
            "ldflags": f"-nostartfiles --specs=nano.specs --specs=nosys.specs -T {script} "
            "-Wl,--gc-sections -Wl,-Map=$(BUILD)/map.txt",
            "link_script": script,
            "defines": f"-ffunction-sections -fdata-sections -DTICK_NUMERATOR={self.ticks[0]}u "
            f"-DTICK_DENOMINATOR={self.ticks[1]}u ",
            "size_flags": "-A",
            "qemu_needed": ", and qemu-system-arm to run it",
            "run_what": f"runs it in QEMU ({self.qemu})",
            "run_text": f"runs it in QEMU's {self.qemu}",
            "run_command": f"qemu-system-arm -M {self.qemu} -nographic \\\n"
            "\t  -monitor none -serial none \\\n"
            f"\t  -icount shift=5,sleep=off -kernel $(BUILD)/{program} \\\n"
            f"\t  -semihosting-config {arguments},arg=$(IN),arg=$(OUT)"
            "$(if $(TRACE),$(comma)arg=$(TRACE))",
        }


STACK_BYTES = 8192
_ARM = "arm-none-eabi-"
_FIRMWARE = ("platform.h", "platform_cortex_m.c", "startup.h", "startup.c", "cortex_m.ld.in")

MACHINES = {
    "host": Machine("cc", "size", "", ("platform.h", "platform_host.c")),
    "cortex-m4": Machine(
        _ARM + "gcc",
        _ARM + "size",
        "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        _FIRMWARE,
        "mps2-an386",
        (("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
        rooms=((0x21000000, 16 << 20),),
        ticks=(5, 4),
    ),
    "cortex-m7": Machine(
        _ARM + "gcc",
        _ARM + "size",
        "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard",
        _FIRMWARE,
        "mps2-an500",
        (("FLASH", "0x00000000", "4M"), ("RAM", "0x20000000", "4M")),
        rooms=((0x60000000, 16 << 20),),
        ticks=(5, 4),
    ),
    # Code lies in the ITCM; weights in the memory that stands for flash on this board.
    "cortex-m55": Machine(
        _ARM + "gcc",
        _ARM + "size",
        "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard",
        _FIRMWARE,
        "mps3-an547",
        (
            ("FLASH", "0x00000000", "512K"),
            ("CONSTANTS", "0x01000000", "2M"),
            ("RAM", "0x21000000", "4M"),
        ),
        constants="CONSTANTS",
        rooms=((0x20000000, 512 << 10), (0x60000000, 16 << 20)),
        ticks=(125, 128),
    ),
}
