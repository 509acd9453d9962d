# Shortcuts for developing and installing; `make help` lists them. The build itself is meson.build.
PREFIX ?= /usr/local
DESTDIR ?=
# On Debian the loader and pkg-config look in /usr/local/lib, but meson without dpkg-dev prefers lib64.
LIBDIR ?= $(if $(wildcard /etc/debian_version),lib)
DIRECTORIES = -Dprefix=$(abspath $(PREFIX)) $(if $(LIBDIR),-Dlibdir=$(LIBDIR))
FUZZ_RUNS ?=
PORT ?= 8080
DURATION ?= 1h

BUILD_PACKAGES = gcc libc6-dev meson ninja-build pkg-config libxxhash-dev zlib1g-dev libzstd-dev \
	liblzma-dev libutf8proc-dev librdkafka-dev libsqlite3-dev libmicrohttpd-dev libjansson-dev
TEST_PACKAGES = $(BUILD_PACKAGES) libcmocka-dev python3-pytest python3-yaml python3-prometheus-client strace zstd
# Without these the tests that need them are skipped.
MORE_TEST_PACKAGES = g++ python3-numpy python3-gensim python3-sklearn python3-matplotlib fasttext postgresql sqlite3 curl \
	chromium $(PAGE_PACKAGES)
PAGE_PACKAGES = nodejs npm
FUZZ_PACKAGES = $(BUILD_PACKAGES) clang libclang-rt-dev
LINT_PACKAGES = $(TEST_PACKAGES) $(FUZZ_PACKAGES) g++ clang-format clang-tidy cppcheck abigail-tools

# The build of clang serves the tests under AddressSanitizer and UndefinedBehaviorSanitizer, the fuzzers, and
# lint, hence its warnings are errors. -O1 builds twice as fast as -O2, and tests run no slower.
CLANG = -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true \
	-Dwerror_ours=true
TSAN = -Dbuildtype=debugoptimized -Doptimization=1 -Dc_args=-g1 -Db_sanitize=thread -Db_lundef=false -Dkafka=disabled

# ThreadSanitizer does not work with the address randomization of some kernels, nor with the C11
# threads that librdkafka starts. It runs only what uses threads.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

# Unit tests and files of tests; what has one thread only is left out.
THREADED = base sampler store_shared threads live leaving copy feed feed_spool history_bounds endurance memory \
	classifier classifier_file run $(if $(WORDTIDE_SLOW),labels)
THREADED_RUNS = train follow signals determinism routes search_batching downloads ingest events saving history \
	examples $(if $(WORDTIDE_SLOW),durable)
TSAN_TARGETS = cli/wordtide $(THREADED:%=tests/test_%) $(patsubst examples/%.c,tests/example_%,$(wildcard examples/*.c))

# Trainings that are killed, resumed and repeated many times: their code is also under AddressSanitizer in unit
# tests, so with WORDTIDE_SLOW only.
KILLED_OFTEN = follow spool determinism batch checkpoint examples durable
# The same for scripts in Python, and for unit tests that save and resume, or cut a text, everywhere.
SCRIPTS = labels_eval classifiers hashtags hashtag_parts paper_parts paper_report bench lab
EVERYWHERE = resume records_cut
# a b c as a|b|c
empty :=
alternatives = $(subst $(empty) $(empty),|,$(strip $(1)))

# $(call build,FOLDER,OPTIONS,TARGETS,ENVIRONMENT)
build = @$(4) PACKAGES="$(BUILD_PACKAGES)" scripts/build $(1) $(2) $(if $(3),-- $(3))

# What the page is built and looked at with, from npm, as web/package-lock.json has it.
define page_packages
	@test web/node_modules/.package-lock.json -nt web/package-lock.json \
	    || npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 \
	    $(1)
endef

.NOTPARALLEL:
.PHONY: all deps deps-all clang-build test check faults kills nightly soak run web asan tsan lint fuzz bench paper ablation hashtags \
	install uninstall clean help

all: ## build the library and the command in build/
	$(call build,build,-Dtests=false)

deps: ## install the packages that a build needs (apt-get, as root or with sudo)
	@scripts/install_packages $(BUILD_PACKAGES)

deps-all: ## install what any of the tests needs: 2 GB with a browser and other readers of vectors
	@scripts/install_packages $(TEST_PACKAGES) --optional $(MORE_TEST_PACKAGES)
	$(call page_packages,|| echo "the tests of the page will be skipped" >&2)

test: ## build and run every test; those that lack a program are skipped
	@scripts/install_packages $(TEST_PACKAGES)
	$(call build,build,-Dtests=true $(if $(CI),-Dwerror_ours=true))
	@scripts/run_tests

check: test

faults: ## kills, signals, clocks, bad disks and logs, and what they did, as a table
	@scripts/install_packages $(TEST_PACKAGES)
	$(call build,build,-Dtests=true)
	@scripts/run_tests --only faults --figures

kills: ## kill -9, hundreds of times: files, a spooled pipe, a server, a Kafka group
	@scripts/install_packages $(TEST_PACKAGES)
	$(call build,build,-Dtests=true)
	@scripts/kills

nightly: deps-all ## the same ten times as much, 10000000 inputs for every parser, long streams, fresh machines: hours
	@scripts/install_packages $(FUZZ_PACKAGES) debootstrap
	$(call build,build,-Dtests=true)
	@scripts/nightly

soak: ## trainings with one fault after another for DURATION (1h); the model must be the same to the byte
	@scripts/install_packages $(TEST_PACKAGES)
	$(call build,build,-Dtests=true)
	@scripts/soak --duration $(DURATION)

run: deps all ## start the live page on the built-in demo stream (PORT)
	@build/cli/wordtide serve --demo --port $(PORT)

web: ## build the page of the server, and check that it is the committed one
	@scripts/install_packages $(PAGE_PACKAGES)
	$(call page_packages)
	@npm --prefix web run --silent build
	@git diff --stat --exit-code -- web/dist \
	    || { echo "web/dist has changed: commit it with its sources" >&2; exit 1; }

clang-build:
	$(call build,build-clang,$(CLANG),,CC=clang)

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/install_packages $(TEST_PACKAGES) $(FUZZ_PACKAGES)
	@$(MAKE) --no-print-directory clang-build
	@scripts/run_tests --build-dir build-clang --only unit,cli,server \
		$(if $(WORDTIDE_SLOW),,--files \
		'test_(?!($(call alternatives,$(KILLED_OFTEN) $(SCRIPTS)))\.py|($(call alternatives,$(EVERYWHERE)))$$).*')

tsan: ## everything about threads under ThreadSanitizer
	@scripts/install_packages $(TEST_PACKAGES)
	$(call build,build-tsan,$(TSAN),$(TSAN_TARGETS))
	@$(FIXED_ADDRESSES) scripts/run_tests --build-dir build-tsan --only unit,cli,server \
		--files 'test_($(call alternatives,$(THREADED))|($(call alternatives,$(THREADED_RUNS)))\.py)'

lint: ## formatting, layers, static analysis, no warnings from gcc and clang
	@scripts/install_packages $(LINT_PACKAGES)
	@scripts/lint

fuzz: ## give every parser twenty thousand inputs, or FUZZ_RUNS
	@scripts/install_packages $(FUZZ_PACKAGES)
	$(call build,build-clang,$(CLANG),fuzzers,CC=clang)
	@scripts/run_fuzz $(if $(FUZZ_RUNS),--runs $(FUZZ_RUNS))

bench: all ## measure speed and quality
	@bench/run

paper: all ## the paper's experiments on TEXT, as OUT/report.html (SETS, OUT, THREADS)
	@scripts/install_packages python3 python3-matplotlib
	@paper/report.py $(if $(SETS),--sets "$$SETS") --out "$${OUT:-build/paper}" \
		--jobs "$${THREADS:-1}" -- "$$TEXT"

ablation: all ## what each part contributes on TEXT by SETS, as OUT/ablation.md (OUT, THREADS)
	@scripts/install_packages python3
	@paper/ablation.py $(if $(SETS),--sets "$$SETS") --out "$${OUT:-build/ablation}" \
		--jobs "$${THREADS:-1}" -- "$$TEXT"

hashtags: all ## predict the hashtags of STREAM while learning, as OUT/hashtags.html (OUT, SEEDS, THREADS)
	@scripts/install_packages python3 python3-matplotlib zstd
	@paper/hashtags.py --out "$${OUT:-build/hashtags}" --seeds "$${SEEDS:-3}" \
		--jobs "$${THREADS:-1}" -- "$$STREAM"

install: ## build, and install under DESTDIR and PREFIX (/usr/local)
	$(call build,build,-Dtests=false $(DIRECTORIES))
	@DESTDIR="$(abspath $(DESTDIR))" meson install -C build --no-rebuild --quiet
	@scripts/installed note build "$(abspath $(DESTDIR))"

uninstall: ## remove what install wrote with the same DESTDIR and PREFIX
	$(call build,build,$(DIRECTORIES),build.ninja)
	@scripts/installed remove build "$(abspath $(DESTDIR))"

clean: ## remove everything that was built
	rm -rf build build-clang build-gcc build-tsan web/node_modules web/out

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10
