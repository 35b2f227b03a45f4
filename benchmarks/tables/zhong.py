"""Zhong's Tables II to VI and Figure 9 beside ours."""

from benchmarks.tables.graphs import Case
from benchmarks.tables.papers import TABLE_2, TABLE_3, TABLE_4, TABLE_5, TABLE_6, ZHONG, ZHONG_9
from benchmarks.tables.table import Run, Table, kb
from memopt.solvers.published.fusion.zhong import modules
from memopt.solvers.published.scheduling import ilp_olla
from memopt.solvers.scheduling.integer import ALONE
from memopt.solvers.scheduling.methods import ilp
from memopt.solvers.theory.fusion import contract

QUOTED = (
    "Columns marked * are quoted from the paper (HMCOS's and SERENITY's as Zhong et al. print them;"
    " they were not run here). KB = 1024 B. NASNet-A and AmoebaNet-A are not the paper's graphs,"
    " so their rows cannot be compared; Randwire2 has the paper's RPO but another optimum."
)


def paper_name(name: str, prepare: str) -> str:
    return ZHONG.get((name, prepare), "-")


def table_2(run: Run) -> Table:
    """Peaks."""
    table = Table(
        "zhong-2",
        "Zhong, Table II: peak memory in KB",
        (
            "graph",
            "paper's name",
            "RPO*",
            "SERENITY*",
            "HMCOS*",
            "Zhong*",
            "rpo",
            "dp",
            "auto",
            "bound",
            "proof",
            "less than rpo",
        ),
        (QUOTED,),
    )
    for case in run.cases:
        theirs = TABLE_2.get(paper_name(case.name, case.prepare))
        rpo, _ = run.timed(case.title, case.graph, "rpo")
        dp, _ = run.timed(case.title, case.contracted, "dp")
        best, _ = run.timed(case.title, case.graph, "auto")
        table.add(
            case.title,
            paper_name(case.name, case.prepare),
            *((theirs.rpo, theirs.serenity, theirs.hmcos, theirs.ours) if theirs else [None] * 4),
            kb(rpo.peak),
            kb(dp.peak),
            kb(best.peak),
            kb(best.lower_bound),
            best.proof,
            f"{1 - best.peak / rpo.peak:.1%}" if rpo.peak else "-",
        )
    return table


def table_3(run: Run) -> Table:
    """Seconds, with what is proven by then."""
    table = Table(
        "zhong-3",
        "Zhong, Table III: seconds",
        (
            "graph",
            "paper's name",
            "HMCOS*",
            "Zhong*",
            "auto",
            "auto optimal",
            "contract",
            "ilp",
            "ilp optimal",
        ),
        (QUOTED, "ilp: CP-SAT on the contracted graph, without bound or warm start."),
    )
    for case in run.cases:
        name = paper_name(case.name, case.prepare)
        auto, seconds = run.timed(case.title, case.graph, "auto")
        program, program_seconds = run.timed(case.title, case.contracted, "ilp", **ALONE)
        table.add(
            case.title,
            name,
            *TABLE_3.get(name, (None, None)),
            seconds,
            auto.optimal,
            round(case.contract_seconds, 4),
            program_seconds,
            program.optimal,
        )
    return table


def table_4(run: Run) -> Table:
    """Variables before and after pruning and contraction, and what they cost to solve."""
    table = Table(
        "zhong-4",
        "Zhong, Table IV: variables and seconds of the integer programs",
        (
            "graph",
            "partition* V",
            "partition* s",
            "+pruning* V",
            "+fusion* V",
            "all* V",
            "all* s",
            "operators",
            "V",
            "pruned V",
            "contracted operators",
            "contracted V",
            "contracted pruned V",
            "olla V",
            "ilp s",
            "ilp proves",
            "with bound and warm start s",
            "proves",
            "HiGHS s",
            "HiGHS proves",
        ),
        (
            QUOTED,
            "Zhong's variables are those of all parts of a partition together, ours those of the"
            " whole graph: sums of O, T, and in-place choices. olla: ilp-olla, contracted and"
            " pruned. The times are for the contracted, pruned program: CP-SAT alone; CP-SAT with"
            " the min-cut bound and auto's order; HiGHS with both.",
        ),
    )
    for case in run.cases:
        theirs = TABLE_4.get(paper_name(case.name, case.prepare))
        quoted = (None,) * 6
        if theirs:
            quoted = (*theirs.partition, theirs.pruning[0], theirs.fusion[0], *theirs.both)
        alone, alone_seconds = run.timed(case.title, case.contracted, "ilp", **ALONE)
        helped, helped_seconds = run.timed(
            case.title, case.contracted, "ilp", bound="flow", warm_start="auto"
        )
        highs, highs_seconds = run.timed(
            case.title, case.contracted, "ilp", bound="flow", warm_start="auto", solver="highs"
        )
        table.add(
            case.title,
            *quoted,
            len(case.graph),
            ilp.count(case.graph, pruning=False),
            ilp.count(case.graph),
            len(case.contracted),
            ilp.count(case.contracted, pruning=False),
            ilp.count(case.contracted),
            ilp_olla.count(case.contracted),
            alone_seconds,
            alone.optimal,
            helped_seconds,
            helped.optimal,
            highs_seconds,
            highs.optimal,
        )
    return table


def _parts(run: Run, name: str, title: str, parts: tuple[int, ...]) -> Table:
    from benchmarks.partition_table import table as partition_table

    table = Table(
        name,
        title,
        (
            "graph",
            "paper's name",
            "parts",
            "partition",
            "peak* KB",
            "seconds*",
            "peak KB",
            "seconds",
            "best within the partition",
        ),
        (QUOTED, "Modules contracted first; parts that can hold the peak go to `auto`."),
    )
    for case in run.cases:
        paper = paper_name(case.name, case.prepare)
        run.tick(f"{case.title}: partitions")
        for row in partition_table(case.graph, parts, time_limit=run.time_limit):
            quoted: tuple[int | None, float | None] = (None, None)
            if name == "zhong-5" and paper in TABLE_5:
                quoted = (TABLE_5[paper][1 if row.partition == "naive" else 2], None)
            elif name == "zhong-6" and row.partition != "naive" and paper in TABLE_6:
                quoted = TABLE_6[paper][row.k]
            table.add(
                case.title,
                paper,
                row.k,
                row.partition,
                *quoted,
                kb(row.peak),
                round(row.partition_seconds + row.schedule_seconds, 4),
                row.exact,
            )
    return table


def table_5(run: Run) -> Table:
    """Our partition and the naive one."""
    return _parts(run, "zhong-5", "Zhong, Table V: memory-aware and naive partition, 4 parts", (4,))


def table_6(run: Run) -> Table:
    """Measure one to six parts, on the paper's two graphs where they are among the chosen ones."""
    two = ("hrnet_w18_small_v1", "nasnet_a_imagenet")
    cases = [c for c in run.cases if c.name in two] or run.cases[:2]
    smaller = Run(cases, run.time_limit, run.samples, run.tick)
    return _parts(smaller, "zhong-6", "Zhong, Table VI: number of parts", tuple(range(1, 7)))


def figure_9(run: Run) -> Table:
    """Return how many operators a graph has before and after fusion."""
    table = Table(
        "zhong-9",
        "Zhong, Figure 9: operators before and after fusion",
        (
            *("graph", "paper's name", "in the file", "as prepared", "Zhong's fusion"),
            *("modules (T2, T3)", "times fewer", "times fewer, at most*", "seconds"),
        ),
        (
            f"Quoted (*): what the text says; it also says {ZHONG_9[1]} times fewer than HMCOS. The"
            " bars are not in it. Zhong's fusion: Algorithm 1 with our conditions.",
        ),
    )
    for case in run.cases:
        run.tick(f"{case.title}: fusion")
        in_file = len(Case(case.name, "", case.path).graph)
        fused, _ = contract(case.graph, modules(case.graph))
        table.add(
            *(case.title, paper_name(case.name, case.prepare)),
            *(in_file, len(case.graph), len(fused)),
            *(len(case.contracted), in_file / len(case.contracted), ZHONG_9[0]),
            round(case.contract_seconds, 4),
        )
    return table
