# Each target first installs the distribution packages it needs, if any is missing. Swift itself comes from
# https://www.swift.org/install/linux (6.3 or newer).

PACKAGES = sh Tests/packages
BUILD = swift build --explicit-target-dependency-import-check error
# The program as users get it is optimised as a whole when it is linked, where the toolchain has the linker for it: that saves an
# eighth of the instructions of a request, and takes two minutes and 1.2 GB. `make build LTO=` does without.
LLD = $(shell swiftc -print-target-info 2>/dev/null | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift.*|\1/bin/ld.lld|p')
LTO = $(if $(wildcard $(LLD)),--experimental-lto-mode full -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic)
RELEASE = $(BUILD) -c release --static-swift-stdlib $(LTO)
CONFIG = $(firstword $(wildcard proxy.conf) proxy.conf.example)
FUZZERS = FuzzHead FuzzFrames FuzzStreamText FuzzChunked FuzzChallenge FuzzNTLM FuzzForm FuzzTrust FuzzRules FuzzDigestAuthorization FuzzJSON FuzzHelper \
    FuzzCredentialFile FuzzFTP FuzzCookie FuzzSOCKS FuzzBalancer FuzzHello FuzzTrace FuzzURL
FUZZ_SECONDS = 60
# Inputs for each, within that time; -1: no limit.
FUZZ_RUNS = -1
FUZZ_FLAGS =
# What to measure, and how long: Tests/Benchmarks/README.md.
BENCH_FLAGS =
# Where `make install` puts things, below DESTDIR.
PREFIX = /usr/local
DESTDIR =
PACKAGING = Sources/attache/Packaging

# How many changes `make mutants` makes to Sources, and the seed that chooses them.
MUTANTS = 10
SEED = 1

# How long `make soak` takes.
MINUTES = 30

# What `make sanitize` runs: the engine with a thousand connections that end in every way, the decisions about chains, and
# through the proxy a thousand handshakes to each side and ten thousand intercepted requests.
SANITIZED = ^TLSTests\.|TLSEnduranceTests

.PHONY: help run build install deb release release-images host images test mutants screenshots soak sanitize lint fuzz bench clean swift

help:
	@echo 'make run          build the release and start the proxy with proxy.conf, or else with proxy.conf.example'
	@echo 'make test         unit, golden and end-to-end tests'
	@echo 'make mutants      each rule about refused credentials, changed once, breaks a promise; then MUTANTS (10) changes'
	@echo '                  by SEED (1) anywhere in Sources, and those that no test notices'
	@echo 'make screenshots  pictures of the dashboard into Tests/Screenshots'
	@echo 'make soak         MINUTES (30) of HTTP/2 clients that cancel, break off and leave'
	@echo 'make sanitize     TLS and its endurance under AddressSanitizer: no leak, no wrong access'
	@echo 'make lint         format and house rules'
	@echo 'make fuzz         every fuzzer, FUZZ_SECONDS (60) each'
	@echo 'make bench        the same loads through Attaché and HAProxy'
	@echo 'make build        the release binary, .build/release/attache'
	@echo 'make install      the release, its man pages, completions and systemd unit, below DESTDIR and PREFIX (/usr/local)'
	@echo 'make deb          a package for Debian, .build/attache_VERSION_ARCHITECTURE.deb'
	@echo 'make release      tarball, package, bill of materials and their sums, into .build/release-files'
	@echo 'make release-images  both images of the Dockerfile as OCI archives, by podman, into the same folder'
	@echo 'make host         the package in a fresh Debian 12, the tarball in a fresh Debian 12 and a fresh Ubuntu 24.04'
	@echo 'make images       both images of the Dockerfile, built and run by podman, as root; needs no registry'
	@echo 'make clean        remove .build'

run: build
	@echo
	@echo 'Attaché starts with $(CONFIG); Ctrl-C ends it. In another terminal:'
	@echo '    curl -i http://127.0.0.1:3127/practice/digest                            # 401: nobody answers'
	@echo '    curl -i -x http://127.0.0.1:3128 http://127.0.0.1:3127/practice/digest   # 200: the proxy answers'
	@echo
	@exec .build/release/attache run --config $(CONFIG)

build: swift
	@echo 'Building the release binary'
	@$(PACKAGES) build
	@$(RELEASE) --product attache

# Not what `build` makes anew: `sudo make install` needs no compiler, after `make build`.
install:
	@test -x .build/release/attache || { echo 'make: run `make build` first' >&2; exit 1; }
	@echo 'Installing below $(DESTDIR)$(PREFIX)'
	@sh $(PACKAGING)/install .build/release/attache '$(DESTDIR)' '$(PREFIX)'

deb: build
	@echo 'Building the package'
	@sh $(PACKAGING)/Debian/build .build/release/attache .build

# The paths of this folder would make other bytes of the program in another folder. The symbols of the debugger name the cache of
# modules, whose name is made from the path, and the linker's build ID is made from them: without them it is the same.
release: RELEASE += -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. -Xlinker --strip-all
release: build
	@echo 'Making the files of the release'
	@sh $(PACKAGING)/release .build/release/attache .build/release-files

release-images:
	@sh $(PACKAGING)/images .build/release-files

# A machine that cannot run a container is told so, and nothing fails.
images: swift
	@echo 'Building the images, and running them'
	@$(PACKAGES) containers || true
	@Tests/containers/run

host: build
	@$(PACKAGES) host
	@rm -rf .build/host && sh $(PACKAGING)/release .build/release/attache .build/host >/dev/null
	@for file in .build/host/attache_*.deb .build/host/attache-*.tar.gz; do sh Tests/host "$$file" || exit 1; done

test: swift
	@echo 'Running the unit, golden and end-to-end tests'
	@$(PACKAGES) test
	@$(BUILD) --build-tests
	@sh Tests/run
	@sh Tests/refusals

mutants: swift
	@echo 'Changing one rule about refused credentials after the other'
	@sh Tests/refusals mutants
	@echo 'Changing $(MUTANTS) tokens of Sources, one after the other'
	@$(PACKAGES) test
	@sh Tests/mutants $(MUTANTS) $(SEED)

screenshots: swift
	@echo 'Taking pictures of the dashboard'
	@$(PACKAGES) test
	@$(BUILD) --build-tests
	@ATTACHE_SCREENSHOTS=$(CURDIR)/Tests/Screenshots sh Tests/run --filter ScreenshotTests

soak: build
	@echo 'Running the release under clients that misbehave, for $(MINUTES) minutes'
	@$(PACKAGES) test
	@$(BUILD) --build-tests
	@ATTACHE_SOAK=$(MINUTES) ATTACHE_BINARY=$(CURDIR)/.build/release/attache sh Tests/run --filter SoakTests

sanitize: swift
	@echo 'Running the tests of TLS and its endurance under AddressSanitizer'
	@$(PACKAGES) test
	@$(BUILD) --build-tests --sanitize address --scratch-path .build/asan
	@ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/leaks.txt:print_suppressions=0 \
	    swift test --explicit-target-dependency-import-check error --skip-build --sanitize address \
	    --scratch-path .build/asan --filter '$(SANITIZED)'

lint: swift
	@echo 'Checking the format and the house rules'
	@swift format lint --strict -r Sources Tests Package.swift
	@sh Tests/lint

# libFuzzer brings its own `main`, hence a build of its own. Each fuzzer begins with the inputs in its folder Corpus;
# others that are worth keeping collect in .build/fuzz. A rule file is as much work as twenty of the other inputs.
fuzz: swift
	@echo 'Fuzzing for $(FUZZ_SECONDS) seconds each: $(FUZZERS)'
	@$(PACKAGES) build
	@for fuzzer in $(FUZZERS); do \
	    ATTACHE_FUZZ=1 swift build --scratch-path .build/fuzz --sanitize fuzzer --product $$fuzzer || exit 1; \
	done
	@for fuzzer in $(FUZZERS); do \
	    echo "Running $$fuzzer"; \
	    mkdir -p .build/fuzz/corpus/$$fuzzer; \
	    runs=$(FUZZ_RUNS); test $$fuzzer != FuzzRules -o $$runs = -1 || runs=$$((runs / 20)); \
	    SWIFT_BACKTRACE=enable=no .build/fuzz/debug/$$fuzzer -max_total_time=$(FUZZ_SECONDS) -runs=$$runs -verbosity=0 $(FUZZ_FLAGS) \
	        -print_final_stats=1 -artifact_prefix=.build/fuzz/$$fuzzer- .build/fuzz/corpus/$$fuzzer \
	        Tests/Fuzz/$$fuzzer/Corpus || exit 1; \
	done

bench: build
	@echo 'Measuring the same loads through Attaché and HAProxy'
	@$(PACKAGES) bench
	@ATTACHE_BENCH=1 $(RELEASE) --product bench
	@Tests/Benchmarks/run $(BENCH_FLAGS)

clean:
	@echo 'Removing .build'
	@rm -rf .build

swift:
	@command -v swift >/dev/null || \
	    { echo 'make: there is no swift here; install Swift 6.3 from https://www.swift.org/install/linux' >&2; exit 1; }
