// swift-tools-version: 6.3
import PackageDescription

// The manifest is the architecture: targets by layer, lowest first. A target imports only targets of lower
// layers; SwiftPM refuses a circle and `--explicit-target-dependency-import-check error` an undeclared import.

/// Whether libFuzzer's targets are built; then all that they reach tells the fuzzer which edges it took.
let fuzzing = Context.environment["ATTACHE_FUZZ"] != nil
let instrumented: [SwiftSetting] = fuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

/// Every target: warnings are errors, and the language modes that make imports and existentials explicit.
/// Release builds optimise across modules, so that layer borders cost nothing and nothing is `@inlinable`.
let house: [SwiftSetting] =
    instrumented + [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .unsafeFlags(["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    ]

/// Targets that own no C library and are neither `IO` nor `Bytes`: every unsafe expression is marked.
let safe: [SwiftSetting] = house + [.strictMemorySafety()]

/// Fast tests, one target beside each of ours; `EndToEndTests` drives the built binary against real servers and clients.
let tests: [Target] = [
    .target(
        name: "TestSupport", dependencies: ["Bytes", "CNghttp2", "IO", "Rules"], path: "Tests/Support",
        swiftSettings: house),
    .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: house),
    .testTarget(name: "IOTests", dependencies: ["TestSupport", "IO", "Bytes"], swiftSettings: house),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Bytes"], swiftSettings: house),
    .testTarget(
        name: "HTTP2Tests", dependencies: ["TestSupport", "HTTP2", "HTTP", "Bytes", "CNghttp2"], swiftSettings: house),
    .testTarget(name: "CryptoTests", dependencies: ["Crypto", "Bytes"], swiftSettings: house),
    .testTarget(name: "CompressionTests", dependencies: ["Compression", "Bytes", "CZlib"], swiftSettings: house),
    .testTarget(name: "DatabaseTests", dependencies: ["Database"], swiftSettings: house),
    .testTarget(
        name: "TelemetryTests", dependencies: ["TestSupport", "Telemetry", "HTTP", "IO", "Bytes", "Model"],
        exclude: ["Golden"],
        swiftSettings: house),
    .testTarget(
        name: "AuthenticationTests", dependencies: ["Authentication", "Bytes", "Crypto", "Model"], swiftSettings: house),
    .testTarget(
        name: "RulesTests", dependencies: ["Bytes", "Model", "Rules"], exclude: ["Golden"], swiftSettings: house),
    .testTarget(
        name: "TLSTests", dependencies: ["TestSupport", "Bytes", "COpenSSL", "Crypto", "Model", "TLS"],
        swiftSettings: house),
    .testTarget(
        name: "PACTests", dependencies: ["TestSupport", "PAC", "IO", "Bytes"], swiftSettings: house),
    .testTarget(name: "FTPTests", dependencies: ["FTP", "Bytes", "Crypto"], swiftSettings: house),
    .testTarget(name: "DNSTests", dependencies: ["TestSupport", "DNS", "IO", "Bytes"], swiftSettings: house),
    .testTarget(
        name: "TransportTests", dependencies: ["TestSupport", "Bytes", "Crypto", "IO", "Model", "TLS", "Transport"],
        swiftSettings: house),
    .testTarget(
        name: "CredentialsTests",
        dependencies: [
            "TestSupport", "Authentication", "Bytes", "Credentials", "Crypto", "Database", "GSSAPI", "IO", "Model",
            "TLS", "Telemetry",
        ],
        swiftSettings: house),
    .target(
        name: "TestPolicies",
        dependencies: ["Authentication", "Credentials", "Model", "Rules", "TestSupport", "Upstream"],
        path: "Tests/Policies", swiftSettings: house),
    .target(
        name: "TestNetwork", dependencies: ["Bytes", "Crypto", "DNS", "IO", "TLS", "Transport", "Upstream"],
        path: "Tests/Network", swiftSettings: house),
    .testTarget(
        name: "ChallengesTests",
        dependencies: [
            "TestPolicies", "TestSupport", "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "HTTP",
            "IO",
            "Model", "Rules", "Telemetry", "Upstream",
        ],
        swiftSettings: house),
    .testTarget(
        name: "UpstreamTests",
        dependencies: [
            "TestPolicies", "TestSupport", "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "DNS",
            "Forwarding", "HTTP", "IO", "Model", "PAC", "Rules", "TLS", "Telemetry", "Transport", "Upstream",
        ],
        swiftSettings: house),
    .testTarget(
        name: "GatewayTests", dependencies: ["TestSupport", "Bytes", "Gateway", "IO"], swiftSettings: house),
    .testTarget(
        name: "ForwardingTests",
        dependencies: [
            "TestNetwork", "TestPolicies", "TestSupport", "Authentication", "Bytes", "Credentials", "Crypto", "DNS",
            "Forwarding", "HTTP", "IO", "Model", "Telemetry", "Transport", "Upstream",
        ],
        swiftSettings: house),
    .testTarget(
        name: "ProxyTests",
        dependencies: [
            "TestNetwork", "TestPolicies", "TestSupport", "Authentication", "Bytes", "Challenges", "Credentials",
            "Crypto", "DNS",
            "Forwarding", "Gateway", "HTTP", "IO", "Model", "Proxy", "Rules", "TLS", "Telemetry", "Transport",
            "Upstream",
        ],
        swiftSettings: house),
    .testTarget(
        name: "AdminTests",
        dependencies: [
            "TestSupport", "Admin", "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "HTTP", "IO",
            "Model",
            "Telemetry", "Transport",
        ],
        swiftSettings: house),
    .testTarget(
        name: "CommandTests", dependencies: ["TestSupport", "IO", "attache"], exclude: ["Golden"], swiftSettings: house),
    .testTarget(
        name: "EndToEndTests", dependencies: ["TestSupport", "attache", "Credentials", "GSSAPI", "IO"],
        exclude: ["Transcripts"], swiftSettings: house),
]

/// Built only for `make fuzz`, which sets the variable.
let fuzzers: [Target] =
    !fuzzing
    ? []
    : [
        ("FuzzHead", ["HTTP", "Bytes"]), ("FuzzFrames", ["Bytes", "HTTP", "HTTP2"]),
        ("FuzzStreamText", ["Bytes", "HTTP", "HTTP2"]),
        ("FuzzChunked", ["HTTP", "Bytes"]),
        ("FuzzChallenge", ["Authentication", "Bytes", "Model"]),
        ("FuzzNTLM", ["Authentication", "Bytes", "Crypto", "Model"]),
        ("FuzzTrust", ["Model", "TLS", "Bytes"]), ("FuzzRules", ["Model", "Rules", "Bytes"]),
        ("FuzzDigestAuthorization", ["Authentication", "Bytes", "Crypto"]),
        ("FuzzForm", ["Authentication", "Bytes", "Crypto", "Model"]),
        ("FuzzJSON", ["Authentication", "Bytes", "Crypto", "Model"]),
        ("FuzzCredentialFile", ["Credentials", "Bytes", "Crypto"]),
        ("FuzzHelper", ["Authentication", "Credentials", "Bytes", "Crypto", "Model"]),
        ("FuzzFTP", ["FTP", "Bytes"]),
        ("FuzzCookie", ["Authentication", "Bytes", "Model"]), ("FuzzSOCKS", ["Upstream", "Bytes"]),
        ("FuzzTrace", ["Bytes", "Telemetry"]), ("FuzzBalancer", ["Bytes", "Proxy"]),
        ("FuzzHello", ["Bytes", "Proxy"]),
        ("FuzzURL", ["Authentication", "Bytes", "Challenges", "Crypto", "FTP", "HTTP", "Model", "PAC"]),
    ].map { (name: String, dependencies: [String]) in
        .executableTarget(
            name: name, dependencies: ["FuzzDriver"] + dependencies.map { .byName(name: $0) },
            path: "Tests/Fuzz/\(name)", exclude: ["Corpus"],
            swiftSettings: house + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
    } + [.target(name: "FuzzDriver", path: "Tests/Fuzz/Driver")]

/// Built only for `make bench`, which sets the variable: nothing that a user gets.
let benchmarks: [Target] =
    Context.environment["ATTACHE_BENCH"] == nil
    ? []
    : [
        .executableTarget(
            name: "bench",
            dependencies: [
                "Authentication", "Bytes", "Credentials", "Crypto", "IO", "Model", "TLS", "TestSupport", "Transport",
            ],
            path: "Tests/Benchmarks",
            exclude: ["README.md", "run", "allocations.c", "floor.c", "thresholds.txt"], swiftSettings: house)
    ]

let package = Package(
    name: "attache",
    products: [.executable(name: "attache", targets: ["attache"])],
    targets: [
        // Layer 0: C libraries of the distribution; a module map, and a shim only where C has macros or varargs. CScan is
        // ours: searches with the vector unit, whose types Swift 6.3 compiles to loops over their lanes;
        // CBlocks as well: OpenSSL and nghttp2 allocate by it.
        .target(name: "CLinux"),
        .target(name: "CScan"),
        .target(name: "CBlocks"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CCares", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CGSSAPI", providers: [.apt(["libkrb5-dev"])]),
        .systemLibrary(name: "CPacparser", providers: [.apt(["libpacparser-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CIDN2"),
        .systemLibrary(name: "CPSL"),
        .systemLibrary(name: "CJavaScriptCore"),

        // Layer 1: buffers, cursors, encodings.
        .target(
            name: "Bytes", dependencies: ["CBlocks", "CScan"],
            swiftSettings: house + [.enableExperimentalFeature("Lifetimes")]),

        // Layer 2: one concern each; HTTP and Model, the words that several targets share, are pure.
        .target(name: "IO", dependencies: ["Bytes", "CLinux"], swiftSettings: house),
        .target(name: "HTTP", dependencies: ["Bytes"], swiftSettings: safe),
        .target(name: "Model", dependencies: ["Bytes"], swiftSettings: safe),
        .target(name: "Crypto", dependencies: ["Bytes", "COpenSSL", "CCrypt"], swiftSettings: house),
        .target(name: "Compression", dependencies: ["Bytes", "CZlib"], swiftSettings: house),
        .target(name: "Database", dependencies: ["Bytes", "CPostgreSQL", "CSQLite"], swiftSettings: house),
        .target(name: "Domains", dependencies: ["CPSL"], swiftSettings: house),
        .target(name: "GSSAPI", dependencies: ["Bytes", "CGSSAPI"], swiftSettings: house),

        // Layer 3: the model, the rule file, the record and TLS, all without I/O; names to addresses on the loop.
        .target(name: "HTTP2", dependencies: ["Bytes", "CNghttp2", "Crypto", "HTTP"], swiftSettings: house),
        .target(name: "Authentication", dependencies: ["Bytes", "Crypto", "Domains", "Model"], swiftSettings: safe),
        .target(name: "Rules", dependencies: ["Bytes", "Domains", "Model"], swiftSettings: safe),
        .target(name: "Telemetry", dependencies: ["Bytes", "HTTP", "IO", "Model"], swiftSettings: safe),
        .target(name: "DNS", dependencies: ["Bytes", "IO", "CCares", "CIDN2"], swiftSettings: house),
        .target(name: "TLS", dependencies: ["Bytes", "COpenSSL", "Crypto", "Model"], swiftSettings: house),
        .target(name: "PAC", dependencies: ["Bytes", "CJavaScriptCore", "CPacparser", "IO"], swiftSettings: house),
        .target(name: "FTP", dependencies: ["Bytes", "CCurl", "Crypto", "IO", "Model"], swiftSettings: house),

        // Layer 4: byte streams, credential stores.
        .target(name: "Transport", dependencies: ["Bytes", "DNS", "HTTP2", "IO", "TLS"], swiftSettings: safe),
        .target(
            name: "Credentials",
            dependencies: [
                "Authentication", "Bytes", "Crypto", "Database", "GSSAPI", "IO", "Model", "TLS", "Telemetry",
            ],
            swiftSettings: safe),

        // Layer 5: challenges answered by the rules.
        .target(
            name: "Challenges",
            dependencies: [
                "Authentication", "Bytes", "Credentials", "Crypto", "HTTP", "IO", "Model", "Rules", "TLS", "Telemetry",
            ],
            swiftSettings: safe),

        // Layer 6: servers, the connections to them, and the trust in them.
        .target(
            name: "Upstream",
            dependencies: [
                "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "DNS", "HTTP", "HTTP2", "IO", "Model",
                "PAC", "Rules", "TLS", "Telemetry", "Transport",
            ],
            swiftSettings: safe),

        // Layer 7: FTP as one of them.
        .target(
            name: "Gateway",
            dependencies: [
                "Bytes", "Credentials", "FTP", "HTTP", "IO", "Model", "Rules", "TLS", "Telemetry", "Transport",
                "Upstream",
            ],
            swiftSettings: safe),

        // Layer 8: one exchange, from request to response.
        .target(
            name: "Forwarding",
            dependencies: [
                "Authentication", "Bytes", "Challenges", "Compression", "Credentials", "Crypto", "Gateway", "HTTP",
                "IO",
                "Model", "Rules", "TLS", "Telemetry", "Transport", "Upstream",
            ],
            swiftSettings: safe),

        // Layer 9: the proxy, and the administrator's listener.
        .target(
            name: "Proxy",
            dependencies: [
                "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "DNS", "Forwarding", "HTTP", "HTTP2",
                "IO", "Model", "PAC", "Rules", "TLS", "Telemetry", "Transport", "Upstream",
            ],
            swiftSettings: safe),
        .target(
            name: "Admin",
            dependencies: [
                "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "HTTP", "IO", "Model", "Rules",
                "Telemetry",
                "Transport",
            ],
            // The dashboard's page, Grafana's board and the alerts become a part of the binary.
            resources: [
                "index.html", "dashboard.css", "main.js", "session.js", "elements.js", "parts.js", "charts.js",
                "sections.js", "overview.js", "requests.js", "questions.js", "challenges.js", "credentials.js",
                "certificates.js", "parents.js", "expiries.js", "keys.js",
            ].map { .embedInCode("Page/\($0)") } + [
                .embedInCode("Monitoring/grafana.json"), .embedInCode("Monitoring/alerts.yaml"),
            ],
            swiftSettings: safe),

        // Layer 10: the command line.
        .executableTarget(
            name: "attache",
            dependencies: [
                "Admin", "Authentication", "Bytes", "Challenges", "Credentials", "Crypto", "DNS", "Forwarding", "HTTP",
                "HTTP2", "IO", "Model",
                "PAC", "Proxy", "Rules", "TLS", "Telemetry", "Transport", "Upstream",
            ],
            exclude: [
                "Packaging/Debian", "Packaging/images", "Packaging/install", "Packaging/release", "Packaging/sbom",
            ],
            // `attache deploy` prints them.
            resources: [
                "attache.service", "attache-user.service", "attache.socket", "compose.yaml", "sidecar.yaml",
                "service.yaml",
            ].map {
                .embedInCode("Packaging/\($0)")
            },
            swiftSettings: safe),
    ] + tests + fuzzers + benchmarks,
    swiftLanguageModes: [.v6]
)
