# make demo   everything from nothing: installs, makes a model, plans it, runs it, draws it
# make test   all tests; make lint, make fuzz (full random counts), make clean
#
# PYTHON=python3.12 chooses the Python of the virtual environment, VENV=dir its place,
# JOBS=4 how many tests run side by side.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN = $(VENV)/bin
export PYTHON

# Whole files go to one process: many build their models once for all their tests.
PYTEST = $(BIN)/python -m pytest -v -n $(JOBS) --dist loadfile -rs

.PHONY: demo test lint fuzz clean

demo: $(VENV)/installed
	@.ci/packages build
	$(BIN)/python benchmarks/demo_model.py demo/model.tflite
	$(BIN)/memopt compile demo/model.tflite --target=tflm -o demo/tflm
	$(BIN)/memopt compile demo/model.tflite --target=host -o demo/c
	$(BIN)/memopt compile demo/model.tflite --target=cortex-m4 -o demo/cortex-m4
	$(BIN)/memopt report demo/model.tflite --html demo/report.html > demo/report.txt
	@$(BIN)/python benchmarks/demo_check.py demo

test: $(VENV)/installed
	@.ci/packages build arm chromium
	$(BIN)/lit -s -j $(JOBS) tests/filecheck
	$(PYTEST)

fuzz: $(VENV)/installed
	@.ci/packages build arm
	MEMOPT_FUZZ=1.0 $(PYTEST) tests/property tests/models tests/firmware

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
	rm -rf $(VENV) demo build dist .pytest_cache .ruff_cache src/*.egg-info
