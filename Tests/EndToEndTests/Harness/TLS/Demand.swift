/// A server's demand on its clients, for nginx.
struct Demand: Sendable {
    let directives: @Sendable (Hierarchy) throws -> String

    static let nothing = Demand { _ in "" }

    /// One version of TLS: `1.0` to `1.3`.
    static func version(_ number: String) -> Demand {
        Demand { _ in "ssl_protocols \(number == "1.0" ? "TLSv1" : "TLSv" + number);" }
    }

    /// The level at which OpenSSL still loads and speaks what is weak.
    static let oldStrength = Demand { _ in "ssl_ciphers DEFAULT:@SECLEVEL=0;" }

    /// A client certificate.
    /// - Parameters:
    ///   - named: the issuers that the server names to the client.
    ///   - trusted: the issuers that are accepted besides.
    static func certificate(
        isRequired: Bool = true, from named: @escaping @Sendable (Hierarchy) -> [CertificateIssuer],
        trusting trusted: @escaping @Sendable (Hierarchy) -> [CertificateIssuer] = { _ in [] }
    ) -> Demand {
        Demand { hierarchy in
            let bundle = { (issuers: [CertificateIssuer]) in
                try IssuedCertificate.bundle(issuers.map(\.certificate))
            }
            let more = trusted(hierarchy)
            return """
                ssl_verify_client \(isRequired ? "on" : "optional");
                ssl_client_certificate \(try bundle(named(hierarchy)));
                \(more.isEmpty ? "" : "ssl_trusted_certificate \(try bundle(more));")
                """
        }
    }

    static func + (first: Demand, second: Demand) -> Demand {
        Demand { try first.directives($0) + "\n" + second.directives($0) }
    }
}
