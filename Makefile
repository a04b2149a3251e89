# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
#
# One command each. The work is done by CMake (CMakePresets.json), pytest and scripts/.

SHELL := bash
MAKEFLAGS += --no-print-directory
FUZZ_SECONDS ?= 60
PYTHON_TESTS ?= tests/cli tests/interpreters tests/python tests/parity tests/faults tests/zoo

# With tensors on a device of our own. Files of tests/python that say nothing of memory of the CPU alone.
on_device = LEAPP_TEST_DEVICE=annex .venv/bin/python -m pytest -n auto --dist worksteal
DEVICE_TESTS ?= tests/device $(patsubst %,tests/python/%.py,capture/test_aliasing state/test_state state/test_state_views)
ALL_DEVICE_TESTS ?= tests/device $(patsubst %,tests/python/%.py,branches/test_branches \
  branches/test_followed_numbers branches/test_masks capture/test_aliasing capture/test_annotations \
  capture/test_changed_values capture/test_differing_calls capture/test_later_calls \
  capture/test_made_in_the_first_call capture/test_memory capture/test_method capture/test_tensor_indices \
  package/test_surface runtime/test_surface_running state/test_histories state/test_last_action state/test_state \
  state/test_state_alone state/test_state_errors state/test_state_examples state/test_state_views)

cxx_sources = $(shell find src include python/bindings examples bench fuzz tests -name '*.h' -o -name '*.cpp')
# What has threads: reloading, recording, the watchdog, four pipelines at once.
tsan_programs = pipeline_test watchdog_test robot_test recorder_test reload_test stop_test engine_test
python_sources = $(wildcard python packaging examples bench fuzz tests docs/site)

importable = echo "$(CURDIR)/build/default/python" > "$$(echo .venv/lib/python3.*/site-packages)/leapp-dev.pth"

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' Makefile)

help:  ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

setup:  ## system packages, .venv, headers: whatever is missing
	@scripts/stage setup scripts/setup

setup-demo:
	@scripts/stage setup scripts/setup --demo

setup-peer:
	@scripts/stage setup scripts/setup --peer

setup-tests:
	@scripts/stage setup scripts/setup --tests --peer

build: setup  ## the default preset, importable from .venv
	@cmake --preset default --log-level=WARNING >/dev/null
	@scripts/stage build cmake --build --preset default
	@$(importable)

demo: setup-demo  ## export an example from Python, run it from C++: builds what that needs and no more
	@cmake --preset default --log-level=WARNING >/dev/null
	@scripts/stage build cmake --build --preset default --target leapp_demo
	@$(importable)
	@scripts/stage demo scripts/demo

mujoco: build  ## a trained arm in MuJoCo: export, run closed loop from C++ and Python, a film
	@scripts/stage mujoco examples/mujoco/run

test: setup-tests build lint  ## everything CI runs
	@scripts/stage "build sanitized" cmake --build --preset default --target sanitized_test
	@scripts/stage "C++ tests" ctest --preset default
	@scripts/stage "Python tests" .venv/bin/python -m pytest -n auto --dist worksteal $(PYTHON_TESTS)
	@scripts/stage "Python tests, device" env $(on_device) $(DEVICE_TESTS)

test-device: setup-tests build  ## the tests of capture with tensors that are not on the CPU (docs/how_to/capture_on_a_gpu.md)
	@scripts/stage "Python tests, device" env $(on_device) $(ALL_DEVICE_TESTS)

test-fleet: setup build  ## replay on Ray, a bundle on Triton's server
	@scripts/stage setup scripts/setup --tests --fleet
	@echo "$(CURDIR)/build/default/python" > "$$(echo build/fleet-venv/lib/python3.*/site-packages)/leapp-dev.pth"
	@scripts/stage "Python tests, fleet" build/fleet-venv/bin/python -m pytest tests/fleet

test-zoo: build  ## networks of timm, torchvision, transformers, diffusers, lerobot, and the table of docs/reports/networks.md
	@scripts/stage setup scripts/setup --zoo
	@echo "$(CURDIR)/build/default/python" > "$$(echo build/zoo-venv/lib/python3.*/site-packages)/leapp-dev.pth"
	@scripts/stage "zoo" build/zoo-venv/bin/python tests/zoo/run.py --again --write
	@cmake --build --preset default --target step_bundle >/dev/null
	@scripts/stage "policies in C++" env HF_HUB_OFFLINE=1 build/zoo-venv/bin/python tests/zoo/run_policies.py

test-long: setup-tests build test-tsan-runtime test-arm64  ## what takes longer: whole sweeps, 2,000 random programs, soaks, threads, arm64
	@scripts/stage "Python tests, long" env LEAPP_LONG=1 LEAPP_PROGRAMS=2000 \
	  .venv/bin/python -m pytest -n auto --dist worksteal -m "" $(PYTHON_TESTS)

# JOBS="arm64 wheel": these jobs; BUDGET=25: minutes; FAULTS=1: break each job deliberately.
promises = .venv/bin/python tests/promises/run_promises.py

test-promises: setup-tests build  ## one small job for each promise of README and docs, and a table (tests/promises)
	@$(promises) $(if $(BUDGET),--budget $(BUDGET)) $(if $(FAULTS),--faults) $(JOBS)

test-night: setup-tests build  ## the long jobs behind the promises; repeat to resume
	@$(promises) --night; code=$$?; $(promises) --write; exit $$code

support:  ## docs/reports/promises.md and docs/reports/night.md, from the results of these jobs
	@$(promises) --write

test-asan: setup  ## the C++ tests under AddressSanitizer and UBSan
	@cmake --preset asan --log-level=WARNING >/dev/null
	@scripts/stage build cmake --build --preset asan
	@scripts/stage "C++ tests, asan" ctest --preset asan

test-tsan: setup  ## the C++ tests under ThreadSanitizer
	@cmake --preset tsan --log-level=WARNING >/dev/null
	@scripts/stage build cmake --build --preset tsan
	@scripts/stage "C++ tests, tsan" ctest --preset tsan

test-arm64: setup  ## runtime, command and C++ tests for 64-bit ARM, in an emulator; LEAPP_ARM64=0: nothing
	@scripts/test-arm64

test-tsan-runtime: setup  ## the runtime's tests that have threads, under ThreadSanitizer
	@cmake --preset tsan-runtime --log-level=WARNING >/dev/null
	@scripts/stage "build tsan" cmake --build --preset tsan-runtime --target $(tsan_programs)
	@scripts/stage "runtime, tsan" ctest --preset tsan-runtime

test-torch:  ## tests of capture, ONNX and state with another torch: VERSION=2.8.0, PYTHON=python3.12
	@scripts/stage setup scripts/setup --torch "$(VERSION)"
	@scripts/test-torch "$(VERSION)"

test-python:  ## what runs bundles, without torch, with another interpreter: PYTHON=python3.12
	@scripts/stage setup scripts/setup --no-torch
	@scripts/test-python

torch-modules:  ## what depends on torch, for the one that an interpreter of yours has: PYTHON=/path/to/python
	@scripts/torch-modules $(PYTHON)

bench: setup-peer build  ## figures, beside the peer's
	@scripts/stage "build bench" cmake --build --preset default --target bench_runtime bench_robot bench_reload bench_operators bench_peak
	@scripts/stage bench .venv/bin/python bench/run.py

bench-large: setup build  ## memory and time of 1, 2 and 4 GiB of weights; needs 16 GB of memory and 10 GB of disk
	@scripts/stage "large models" .venv/bin/python bench/large_models.py

docs: build  ## the documentation site: build/docs/html/index.html
	@scripts/stage setup scripts/setup --docs
	@scripts/stage docs scripts/docs

format: setup  ## clang-format and ruff
	@clang-format -i $(cxx_sources)
	@.venv/bin/ruff check -q --fix-only $(python_sources)
	@.venv/bin/ruff format -q $(python_sources)

lint: lint-cxx lint-python  ## formatting, ruff, mypy

lint-cxx: setup
	@scripts/stage clang-format clang-format --dry-run -Werror $(cxx_sources)

lint-python: setup
	@scripts/stage ruff .venv/bin/ruff check $(python_sources)
	@scripts/stage "ruff format" .venv/bin/ruff format --check $(python_sources)
	@scripts/stage mypy .venv/bin/mypy

tidy: setup  ## clang-tidy over all sources: a finding fails; what was seen and is as it was is not looked at again
	@cmake --preset tidy --log-level=WARNING >/dev/null
	@scripts/stage clang-tidy scripts/tidy $(TIDY)

fuzz:  ## FUZZ_SECONDS=60 for each parser of strangers' bytes, with sanitizers
	@scripts/stage setup scripts/setup --fuzz
	@cmake --preset fuzz --log-level=WARNING >/dev/null
	@scripts/stage "build fuzz" cmake --build --preset fuzz --target fuzz_programs
	@scripts/fuzz $(FUZZ_SECONDS)

wheels: setup  ## build/wheels: wheels that run bundles, without torch; an sdist that builds capture against the torch there is
	@scripts/stage wheels scripts/wheels

wheel-test: wheels  ## install these where there is nothing, and use them
	@scripts/stage "wheel test" scripts/wheel-test

clean:  ## remove build/ (.venv stays)
	rm -rf build
