# Everything works on a fresh machine: each target makes the environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test lint bench nightly sample recompile clean

run: $(READY)
	$(BIN)/swift fit heart_failure --rank 12 --seed 0 --out runs/sample

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check swiftcore tests benchmarks sample_data
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks.run_engine
	$(BIN)/python -m benchmarks.data_in

nightly: $(READY)
	$(BIN)/python -m pytest -m nightly

sample: $(READY)
	$(BIN)/python sample_data/generate.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,bench]"
	touch $(READY)

recompile:  # forget the compiled loops
	find swiftcore -name '*.nb[ci]' -delete

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
