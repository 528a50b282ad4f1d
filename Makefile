# Everything runs in a virtual environment of its own, with the versions in pins.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types notebooks bench clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# A process for each core; the tests of one file stay together, with what they share. Files go in their order: those
# with few tests are not the quick ones.
test: $(READY) lint types
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

# Runs the notebooks and keeps their outputs; `make test` runs them too, and keeps nothing.
notebooks: $(READY)
	$(BIN)/python scripts/run_notebooks.py

# VOCAB is a vocabulary file; without it the 131,072 tokens that mistral-common carries.
bench: $(READY)
	$(BIN)/pip install --quiet --constraint pins.txt --editable '.[bench]'
	$(BIN)/python benchmarks/table2.py $(if $(VOCAB),--vocab $(VOCAB))
	$(BIN)/python benchmarks/large.py $(if $(VOCAB),--vocab $(VOCAB))
	$(BIN)/python benchmarks/grammars.py $(if $(VOCAB),--vocab $(VOCAB))

$(READY): pyproject.toml pins.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint pins.txt pip
	$(BIN)/python -m pip install --quiet --constraint pins.txt --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) demo-output build *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
