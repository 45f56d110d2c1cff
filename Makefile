# Everything works on a fresh machine: each target makes the environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNNABLE := $(VENV)/.runnable# library, command line and dashboard
READY := $(VENV)/.ready# and what tests, benchmarks and documents need
# Compiling every module of every package takes longer than copying them; so Python compiles what
# it imports, and must be allowed to keep it.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --no-deps
TESTS := $(BIN)/python -m pytest -n 3 --dist worksteal# more than two cores: many tests wait for others
unexport PYTHONDONTWRITEBYTECODE
# the other methods that do not look at every cell, for the longest tables
SPARSE := cp_als cp_nmu supervised_cp similarity_cp cp_apr lasso_indicators forest_indicators
BY_SEED := swift cp_als cp_nmu similarity_cp cp_apr

.PHONY: run check test unseen lint bench evidence nightly sample screenshots docs chromium strace lock recompile clean

run: $(RUNNABLE)  # the dashboard, on the sample data with finished results
	$(BIN)/swift dashboard

check: lint  # what to run after every edit
	$(TESTS) -m "not slow and not nightly" --ignore tests/browser

test: $(READY) chromium strace  # the browser after the rest: it would wait for cores that compute
	$(MAKE) --no-print-directory -j 2 lint unseen
	$(TESTS) tests/browser

unseen: $(READY)  # all tests but those in the browser
	$(TESTS) --ignore tests/browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive swiftcore dashboard
	$(BIN)/python tools/find_secrets.py

bench: $(READY)
	$(BIN)/python -m benchmarks.run_engine
	$(BIN)/python -m benchmarks.data_in
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.dashboard_open
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.dashboard_rows
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.out_of_core
	$(BIN)/python -m benchmarks.from_postgresql

evidence: $(READY) chromium  # the paper's tables on public data; goes on where it was stopped
	$(BIN)/python -m benchmarks.defaults
	$(BIN)/python -m benchmarks.evidence bbc_fresh evaluation --quick
	$(BIN)/python -m benchmarks.evidence eicu evaluation --quick --seed 1
	$(BIN)/python -m benchmarks.evidence eicu evaluation --quick --seed 1 --repeats 3 --ranks 20 \
	  --methods swift supervised_swift $(SPARSE) --name eicu_repeated
	$(BIN)/python -m benchmarks.evidence eicu evaluation --quick --seed 1 --ranks 10 20 \
	  --methods swift agreed_swift --name eicu_agreed
	$(BIN)/python -m benchmarks.evidence bbc_fresh evaluation --quick --ranks 10 20 --data-sets 1 \
	  --methods swift agreed_swift --name bbc_fresh_agreed
	$(BIN)/python -m benchmarks.evidence bbc_all evaluation --quick --methods swift $(SPARSE)
	$(BIN)/python -m benchmarks.evidence bbc_unique evaluation --quick --methods swift $(SPARSE)
	$(BIN)/python -m benchmarks.evidence bbc_fresh noise --quick --ranks 10 --data-sets 1 --draws 2 \
	  --methods swift $(SPARSE) cp_binary cp_continuous
	$(BIN)/python -m benchmarks.evidence eicu noise --quick --seed 1 --ranks 10 --draws 1 \
	  --methods swift $(SPARSE)
	$(BIN)/python -m benchmarks.evidence bbc_fresh ablation --quick --ranks 10 20 --data-sets 1
	$(BIN)/python -m benchmarks.evidence eicu ablation --quick --seed 1 --ranks 10 20
	$(BIN)/python -m benchmarks.evidence bbc stability --quick --ranks 10 20 --methods $(BY_SEED)
	$(BIN)/python -m benchmarks.evidence eicu stability --quick --ranks 10 20 --methods $(BY_SEED)
	$(BIN)/python -m benchmarks.consensus bbc
	$(BIN)/python -m benchmarks.consensus eicu
	$(BIN)/python -m benchmarks.convergence
	$(BIN)/python -m benchmarks.outside_costs
	$(BIN)/python -m benchmarks.tuned eicu --ranks 20 --minutes 3
	$(BIN)/python -m benchmarks.tuned bbc_fresh --data-sets 1 --ranks 20 --minutes 3
	$(BIN)/python -m benchmarks.phenotypes bbc_fresh --rank 10
	$(BIN)/python -m benchmarks.phenotypes eicu --rank 10
	$(BIN)/python -m benchmarks.figures
	$(BIN)/python -m benchmarks.tables

nightly: $(READY) chromium strace
	SWIFT_EXAMPLES=searching $(BIN)/python -m pytest -m "not nightly and not slow" --ignore tests/browser
	SWIFT_EXAMPLES=searching $(BIN)/python -m pytest -m nightly

sample: $(READY)  # the sample data, then the finished results that ship with them
	$(BIN)/python sample_data/generate.py
	$(BIN)/python -m dashboard.jobs.samples make

screenshots: $(READY) chromium
	$(BIN)/python -m benchmarks.screenshots

docs: $(READY)  # the documentation as a site; opens from build/docs/index.html without a network
	$(BIN)/python -m sphinx -q -b html -W --keep-going docs build/docs

chromium:  # for the browser tests: whatever is there, else from the system's packages
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || \
	  { apt-get update -qq && apt-get install -y -qq chromium; } || \
	  { echo "Install Chromium by hand: its package is named chromium." >&2; exit 1; }

strace:  # to see that the browser tests connect to nothing; without it one test says it is skipped
	@command -v strace >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    apt-get update -qq && apt-get install -y -qq strace; } || \
	  echo "There is no strace here: connections are not watched." >&2

# Nothing is installed but what the hashes name; the project itself is built by what is then there.
$(RUNNABLE): pyproject.toml requirements/run.lock
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes --requirement requirements/run.lock
	$(INSTALL) --no-build-isolation --editable .
	touch $(RUNNABLE)

$(READY): $(RUNNABLE) requirements/test.lock
	$(INSTALL) --require-hashes --requirement requirements/test.lock
	touch $(READY)

lock: $(READY)  # after a change of requirements; INDEX is the address of a package index
	$(BIN)/python tools/lock.py $(INDEX)

recompile:  # forget the compiled loops
	find swiftcore -name '*.nb[ci]' -delete

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
