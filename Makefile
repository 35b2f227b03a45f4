# make demo   everything from nothing: installs, makes a model, plans it, runs it, draws it
# make check  for the daily loop: lint, types and the quick tests, within a minute
# make docs/reference/operators.md, options.md, passes.md, rules.md   pages of reference, from the code
# make docs/reference/channels.md    the page of dead and constant channels, from the shared models
# make docs/reference/onnx-nodes.md  the page of the ONNX backend's node tests
# make docs/pictures       the README's pictures of rows
# make test   the tests
# make coverage  what they cover, each counted, which takes up to thrice the time
# make deep   what `make test` leaves: like its tests, but larger, dearer or on other cores
# make whole  both at once, which build what they share once
# make fuzz   both, random counts in full
# make lines  the lines of each room against its budget, which make lint holds too
# make lint, make clean
#
# PYTHON=python3.12 chooses the Python of the virtual environment, VENV=dir its place,
# JOBS=4 how many tests run side by side.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN = $(VENV)/bin
export PYTHON

# Whole files go to one process: many build their models once for all their tests. They start as their
# folders are listed, so that what takes long does not start last.
PYTEST = -m pytest -v -n $(JOBS) --dist loadfile --no-loadscope-reorder -rs
FIRST = tests/project/ tests/backends/
TESTS = $(FIRST) $(filter-out $(FIRST) tests/filecheck/ tests/helpers/, $(wildcard tests/*/))
# The quick tests of what searches once more, by the reference in Python.
REFERENCE = MEMOPT_NATIVE=0 $(BIN)/python -m pytest -q -m quick tests/solvers tests/cli
COVERAGE = $(BIN)/coverage

.PHONY: demo check test coverage deep whole lint lines fuzz clean docs/pictures
.PHONY: $(patsubst %,docs/reference/%.md,operators options passes rules channels onnx-nodes)

demo: $(VENV)/installed
	@.ci/packages build
	$(BIN)/python benchmarks/demo_model.py demo/model.tflite
	$(BIN)/memopt compile demo/model.tflite --target=tflm -o demo/tflm
	$(BIN)/memopt compile demo/model.tflite --target=host -o demo/c
	$(BIN)/memopt compile demo/model.tflite --target=cortex-m4 -o demo/cortex-m4
	$(BIN)/memopt report demo/model.tflite --html demo/report.html > demo/report.txt
	@$(BIN)/python benchmarks/demo_check.py demo

check: $(VENV)/installed
	@$(BIN)/ruff check -q && $(BIN)/ruff format -q --check && $(BIN)/python tests/helpers/style_check.py
	@$(BIN)/pyright --pythonpath $(BIN)/python & types=$$!; \
	$(BIN)/lit -s -j 1 tests/filecheck/dialect-*.mlir && \
	$(BIN)/python -m pytest -q -m quick tests; tests=$$?; \
	wait $$types && exit $$tests

# Tests start hundreds of processes, which would compile all modules again.
test coverage deep whole fuzz: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/installed
	@.ci/packages build arm riscv checks mlir chromium
	$(BIN)/lit -s -j $(JOBS) tests/filecheck
	$(BIN)/python $(PYTEST) -m "not deep" $(TESTS)
	@$(REFERENCE)

coverage: $(VENV)/installed
	@.ci/packages build arm riscv checks mlir chromium
	rm -rf .coverage && mkdir .coverage
	$(COVERAGE) run $(PYTEST) -m "not deep" $(TESTS)
	@$(COVERAGE) combine -q
	@$(COVERAGE) json -q -o .coverage/report.json
	@$(BIN)/python tests/covered.py .coverage/report.json

deep: $(VENV)/installed
	@.ci/packages build arm riscv checks mlir chromium
	$(BIN)/python $(PYTEST) -m deep $(TESTS)

whole: $(VENV)/installed
	@.ci/packages build arm riscv checks mlir chromium
	$(BIN)/lit -s -j $(JOBS) tests/filecheck
	$(BIN)/python $(PYTEST) $(TESTS)
	@$(REFERENCE)

fuzz: $(VENV)/installed
	@.ci/packages build arm riscv
	MEMOPT_FUZZ=1.0 $(BIN)/python $(PYTEST)

docs/reference/operators.md: $(VENV)/installed
	$(BIN)/python tests/operator_matrix.py

docs/reference/options.md: $(VENV)/installed
	$(BIN)/python tests/option_table.py

docs/reference/passes.md: $(VENV)/installed
	$(BIN)/python tests/pass_table.py

docs/reference/rules.md: $(VENV)/installed
	$(BIN)/python tests/rule_table.py

docs/reference/channels.md: $(VENV)/installed
	$(BIN)/python tests/channel_table.py

docs/reference/onnx-nodes.md: $(VENV)/installed
	$(BIN)/python -m benchmarks.tables.onnx_nodes docs/reference/onnx-nodes.md

docs/pictures: $(VENV)/installed
	$(BIN)/python benchmarks/row_pictures.py docs/pictures

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tests/helpers/style_check.py
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python tests/lines.py

lines: $(VENV)/installed
	$(BIN)/python tests/lines.py

NATIVE = setup.py $(wildcard solvers/native/*.[ch]pp)

$(VENV)/installed: pyproject.toml $(NATIVE)
	@.ci/packages python build
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) demo build dist .coverage .pytest_cache .ruff_cache src/*.egg-info
