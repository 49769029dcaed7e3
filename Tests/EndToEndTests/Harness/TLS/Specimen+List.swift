extension Specimen {
    private static func issued(_ change: @escaping @Sendable (inout CertificateTerms) -> Void) -> Making {
        { try ServerIdentity($0.issuing.issue($1.with(change))) }
    }

    private static func issued(by issuer: @escaping @Sendable (Hierarchy) -> CertificateIssuer) -> Making {
        { try ServerIdentity(issuer($0).issue($1)) }
    }

    private static func selfSigned(_ change: @escaping @Sendable (inout CertificateTerms) -> Void = { _ in }) -> Making
    {
        { try ServerIdentity(CertificateIssuer.selfSigned($1.with(change))) }
    }

    private static let mustStaple = "tlsfeature = status_request"

    /// The specimens without a problem.
    static let trustworthy = [
        Specimen("good"),
        Specimen("rsa", issued { $0.key = .rsa(bits: 2048) }),
        Specimen("wildcard", host: "any.wild.example.test", issued { $0.alternatives = ["DNS:*.wild.example.test"] }),
        Specimen("address", host: "127.0.0.1", issued { $0.alternatives = ["IP:127.0.0.1"] }),
        Specimen(
            "large-chain",
            issued { terms in terms.alternatives += (1...900).map { "DNS:name-number-\($0).example.test" } }),
        Specimen("root-sent") {
            try ServerIdentity($0.issuing.issue($1), sent: [$0.issuing, $0.root].map(\.certificate))
        },
        Specimen("disorder") {
            try ServerIdentity($0.issuing.issue($1), sent: [$0.root, $0.issuing].map(\.certificate))
        },
        Specimen("stapled") { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms)
            return try ServerIdentity(leaf, staple: hierarchy.issuing.staple(for: leaf))
        },
        Specimen("must-staple") { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms.with { $0.extensions = [mustStaple] })
            return try ServerIdentity(leaf, staple: hierarchy.issuing.staple(for: leaf))
        },
        Specimen("tls12", demand: .version("1.2")),
        Specimen("tls13", demand: .version("1.3")),
        Specimen("http2", offersHTTP2: true),
    ]

    static let chains = [
        Specimen("self-signed", findings: ["self-signed"], selfSigned()),
        Specimen("unknown-issuer", findings: ["unknown-issuer"]) {
            try ServerIdentity(
                $0.elsewhereIssuing.issue($1), sent: [$0.elsewhereIssuing, $0.elsewhere].map(\.certificate))
        },
        Specimen("incomplete-chain", findings: ["incomplete-chain"]) {
            try ServerIdentity($0.issuing.issue($1), sent: [])
        },
        Specimen("path-length", findings: ["path-length"], issued(by: { $0.tooDeep })),
        Specimen("name-constraints", findings: ["name-constraints"], issued(by: { $0.constrained })),
        Specimen("invalid", findings: ["invalid"]) {
            try ServerIdentity($0.issuing.issue($1).withBrokenSignature())
        },
    ]

    static let dates = [
        Specimen("expired", findings: ["expired"], issued { $0.days = -60 ... -2 }),
        Specimen("not-yet-valid", findings: ["not-yet-valid"], issued { $0.days = 2...60 }),
        Specimen("expired-issuer", findings: ["expired"], issued(by: { $0.expired })),
    ]

    static let names = [
        Specimen("wrong-name", findings: ["wrong-name"], issued { $0.alternatives = ["DNS:other.example.test"] }),
        Specimen(
            "wildcard-depth", host: "a.b.depth.example.test", findings: ["wrong-name"],
            issued { $0.alternatives = ["DNS:*.depth.example.test"] }),
        Specimen("common-name-only", findings: ["wrong-name"], issued { $0.alternatives = [] }),
        Specimen(
            "address-as-name", host: "127.0.0.1", findings: ["wrong-name"],
            issued { $0.alternatives = ["DNS:127.0.0.1"] }),
    ]

    static let weaknesses = [
        Specimen(
            "weak-signature", findings: ["weak-signature"], demand: .oldStrength,
            issued { $0.digest = "sha1" }),
        Specimen(
            "weak-key", findings: ["weak-key"], demand: .oldStrength, issued { $0.key = .rsa(bits: 1024) }),
        Specimen(
            "wrong-usage", findings: ["wrong-usage"], issued { $0.extensions = ["extendedKeyUsage = clientAuth"] }),
        Specimen(
            "unknown-extension", findings: ["unknown-extension"],
            issued { $0.extensions = ["1.3.6.1.4.1.55555.1 = critical,DER:0500"] }),
    ]

    static let revocations = [
        Specimen("revoked-stapled", findings: ["revoked"]) { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms)
            try hierarchy.issuing.revoke(leaf)
            return try ServerIdentity(leaf, staple: hierarchy.issuing.staple(for: leaf))
        },
        // Found only by a revocation list.
        Specimen("revoked") { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms)
            try hierarchy.issuing.revoke(leaf)
            return try ServerIdentity(leaf)
        },
        Specimen("missing-staple", findings: ["missing-staple"], issued { $0.extensions = [mustStaple] }),
        Specimen("staple-of-a-stranger", findings: ["missing-staple"]) { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms.with { $0.extensions = [mustStaple] })
            let staple = try hierarchy.issuing.staple(for: leaf, signedBy: hierarchy.elsewhere.identity)
            return try ServerIdentity(leaf, staple: staple)
        },
        Specimen("staple-of-another", findings: ["missing-staple"]) { hierarchy, terms in
            let leaf = try hierarchy.issuing.issue(terms.with { $0.extensions = [mustStaple] })
            let another = try hierarchy.issuing.issue(terms)
            return try ServerIdentity(leaf, staple: hierarchy.issuing.staple(for: another))
        },
    ]

    static let mixtures = [
        Specimen(
            "expired-wrong-name", findings: ["expired", "wrong-name"],
            issued {
                $0.days = -60 ... -2
                $0.alternatives = ["DNS:other.example.test"]
            }),
        Specimen("expired-self-signed", findings: ["expired", "self-signed"], selfSigned { $0.days = -60 ... -2 }),
        Specimen(
            "wrong-name-self-signed", findings: ["self-signed", "wrong-name"],
            selfSigned { $0.alternatives = ["DNS:other.example.test"] }),
    ]

    /// The specimens with a good certificate and a protocol that is refused unless a rule allows it.
    static let outdated = [
        Specimen("tls10", demand: .version("1.0") + .oldStrength),
        Specimen("tls11", demand: .version("1.1") + .oldStrength),
    ]

    /// A wish to see the client's certificate. The issuers they name are roots: intermediates have to come from the client.
    static let gatekeepers = [
        Specimen("client-required", demand: .certificate(from: { [$0.root] })),
        Specimen("client-required-tls12", demand: .version("1.2") + .certificate(from: { [$0.root] })),
        Specimen("client-optional", demand: .certificate(isRequired: false, from: { [$0.root] })),
        Specimen("client-elsewhere", demand: .certificate(from: { [$0.elsewhere] }, trusting: { [$0.root] })),
        Specimen("client-of-both", demand: .certificate(from: { [$0.root, $0.elsewhere] })),
        // It may not be trusted, so nothing may be shown to it.
        Specimen(
            "client-for-expired", findings: ["expired"],
            demand: .version("1.2") + .certificate(from: { [$0.root] }), issued { $0.days = -60 ... -2 }),
    ]
}
