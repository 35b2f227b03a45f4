# make demo   everything from nothing: installs, makes a model, plans it, runs it, draws it
# make check  for the daily loop: lint, types and the quick tests, within a minute
# make docs/reference/operators.md   the page of operators, from the code
# make docs/reference/channels.md    the page of dead and constant channels, from the shared models
# make docs/reference/onnx-nodes.md  the page of the ONNX backend's node tests
# make docs/pictures       the README's pictures of rows
# make test   the tests, and what they cover
# make deep   what `make test` leaves: like its tests, but larger, dearer or on other cores
# make fuzz   both, random counts in full
# make lint, make clean
#
# PYTHON=python3.12 chooses the Python of the virtual environment, VENV=dir its place,
# JOBS=4 how many tests run side by side.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN = $(VENV)/bin
export PYTHON

# Whole files go to one process: many build their models once for all their tests. They start as they
# are listed, so that what takes long does not start last.
PYTEST = -m pytest -v -n $(JOBS) --dist loadfile --no-loadscope-reorder -rs
# Traced for what they cover, which takes up to thrice the time: unit tests, but for long searches,
# what other processes do and what runs lines that are covered anyway, and of the others those that
# reach further; of them what is marked `long` is not traced. They come first (tests/conftest.py).
TRACED = $(addprefix tests/property/test_, channels_last.py contraction.py expanded_rows.py local_search.py \
	memories.py mutants_channels.py place_parts.py real_channels.py repair.py \
	rewrite_search.py tosa_rows.py) \
	$(addprefix tests/firmware/test_c_, branches.py cmsis_nn.py computed_shapes.py custom.py detection.py fast.py hybrid.py int16.py \
	integers.py layouts.py memories.py one_pixel_rows.py onnx.py onnx_dynamic.py onnx_fused.py onnx_indices.py onnx_learned.py picked.py pulled_rows.py \
	random_operators.py \
	rare.py rows_command.py scoreboard.py scratch.py sliding.py state.py sum_of_many.py sums.py truth.py uncommon.py use.py) \
	$(addprefix tests/models/test_, captures.py cmsis_nn_scratch.py division.py evaluate.py onnx_exporters.py \
	onnx_meaning.py onnx_nodes.py qdq_fold.py ram.py \
	tflite_calls.py tflite_float32.py tflite_open_shapes.py tflm_branches.py tflm_folded.py tflm_kept.py tflm_refusals.py tflm_write.py tflm_wrong.py) \
	$(filter-out $(addprefix tests/unit/test_, architecture.py commands.py covered.py demo_model.py freed_rows.py growth.py \
	hash_seeds.py int8_io.py interrupts.py joint_abort.py liberis.py memory_cli.py not_measured.py \
	operator_matrix.py outputs.py page_commands.py place_capacity.py python.py quick_parser.py readme.py report_rows.py \
	rewrites.py wheel.py), \
	$(wildcard tests/unit/test_*.py))
TESTS = $(addprefix tests/, extending embedding unit firmware models property)
COVERAGE = $(BIN)/coverage

# One of each kind: the arrows, the IR, a frontend, problems and solvers, plans, the commands.
QUICK = $(addprefix tests/unit/test_, architecture.py architecture_page.py dependencies.py \
	dialect_docs.py dp.py json_graph.py liberis.py problem.py scheduling.py targets.py \
	certificates_cli.py)
GOLDEN = $(addprefix tests/filecheck/, dialect-errors.mlir figure1.mlir memgraph-fuse.mlir \
	memgraph-model.mlir)

.PHONY: demo check test deep lint fuzz clean docs/reference/operators.md docs/reference/channels.md docs/reference/onnx-nodes.md docs/pictures

demo: $(VENV)/installed
	@.ci/packages build
	$(BIN)/python benchmarks/demo_model.py demo/model.tflite
	$(BIN)/memopt compile demo/model.tflite --target=tflm -o demo/tflm
	$(BIN)/memopt compile demo/model.tflite --target=host -o demo/c
	$(BIN)/memopt compile demo/model.tflite --target=cortex-m4 -o demo/cortex-m4
	$(BIN)/memopt report demo/model.tflite --html demo/report.html > demo/report.txt
	@$(BIN)/python benchmarks/demo_check.py demo

check: $(VENV)/installed
	@$(BIN)/ruff check -q && $(BIN)/ruff format -q --check
	@$(BIN)/pyright --pythonpath $(BIN)/python & types=$$!; \
	$(BIN)/lit -s -j 1 $(GOLDEN) && $(BIN)/python -m pytest -q $(QUICK); tests=$$?; \
	wait $$types && exit $$tests

# Tests start hundreds of processes, which would compile all modules again.
test deep fuzz: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/installed
	@.ci/packages build arm checks mlir chromium
	rm -rf .coverage && mkdir .coverage
	$(BIN)/lit -s -j $(JOBS) tests/filecheck
	TRACED="$(TRACED)" $(COVERAGE) run $(PYTEST) -m "not deep" $(TESTS)
	@$(COVERAGE) combine -q
	@$(COVERAGE) json -q -o .coverage/report.json
	@$(BIN)/python tests/covered.py .coverage/report.json

deep: $(VENV)/installed
	@.ci/packages build arm checks mlir chromium
	$(BIN)/python $(PYTEST) -m deep $(TESTS)

fuzz: $(VENV)/installed
	@.ci/packages build arm
	MEMOPT_FUZZ=1.0 $(BIN)/python $(PYTEST)

docs/reference/operators.md: $(VENV)/installed
	$(BIN)/python tests/operator_matrix.py

docs/reference/channels.md: $(VENV)/installed
	$(BIN)/python tests/channel_table.py

docs/reference/onnx-nodes.md: $(VENV)/installed
	$(BIN)/python -m memopt.benchmarks.onnx_nodes docs/reference/onnx-nodes.md

docs/pictures: $(VENV)/installed
	$(BIN)/python benchmarks/row_pictures.py docs/pictures

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python

$(VENV)/installed: pyproject.toml
	@.ci/packages python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) demo build dist .coverage .pytest_cache .ruff_cache src/*.egg-info
