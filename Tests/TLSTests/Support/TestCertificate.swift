import COpenSSL

@testable import TLS

/// A certificate that a test made, with its key.
struct TestCertificate: Sendable {
    let certificate: Certificate
    let key: TestKey

    /// The content of a certificate. Times are in days from `now`.
    struct Recipe {
        var subject = "CN=leaf"
        var key = TestKey.fresh
        var begins = -10
        var ends = 90
        var version = 3
        var serial: Int64 = 1
        /// Nil for keys that bring their own.
        var digest: String? = "SHA256"
        var padding: String?
        /// Name or number, and value as in OpenSSL's configuration.
        var extensions: [(name: String, value: String)] = []

        /// Replaces the extension; nil takes it away.
        subscript(name: String) -> String? {
            get { extensions.first { $0.name == name }?.value }
            set {
                let place = extensions.firstIndex { $0.name == name } ?? extensions.count
                extensions.removeAll { $0.name == name }
                if let newValue { extensions.insert((name, newValue), at: place) }
            }
        }
    }

    /// Seconds since 1970 of every test: 15 January 2027, 08:00.
    static let now = 1_800_000_000

    static func root(_ name: String = "Root", _ change: (inout Recipe) -> Void = { _ in }) -> TestCertificate {
        var recipe = Recipe(subject: "O=Test,CN=\(name)", ends: 3650, extensions: authority)
        change(&recipe)
        return TestCertificate(recipe, by: nil)
    }

    static func authority(
        _ name: String = "Issuing", by issuer: TestCertificate, _ change: (inout Recipe) -> Void = { _ in }
    ) -> TestCertificate {
        var recipe = Recipe(subject: "O=Test,CN=\(name)", ends: 1825, extensions: authority)
        recipe["authorityKeyIdentifier"] = "keyid:always"
        change(&recipe)
        return TestCertificate(recipe, by: issuer)
    }

    static func leaf(by issuer: TestCertificate, _ change: (inout Recipe) -> Void = { _ in }) -> TestCertificate {
        var recipe = server
        recipe["authorityKeyIdentifier"] = "keyid:always"
        change(&recipe)
        return TestCertificate(recipe, by: issuer)
    }

    static func selfSigned(_ change: (inout Recipe) -> Void = { _ in }) -> TestCertificate {
        var recipe = server
        change(&recipe)
        return TestCertificate(recipe, by: nil)
    }

    /// `www.example.test`, for servers.
    private static var server: Recipe {
        Recipe(extensions: [
            ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
            ("extendedKeyUsage", "serverAuth"), ("subjectAltName", "DNS:www.example.test"),
            ("subjectKeyIdentifier", "hash"),
        ])
    }

    private static let authority = [
        ("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign"),
        ("subjectKeyIdentifier", "hash"),
    ]

    /// Signed by itself when `issuer` is nil.
    init(_ recipe: Recipe, by issuer: TestCertificate?) {
        let made = X509_new()!
        X509_set_version(made, recipe.version - 1)
        ASN1_INTEGER_set_int64(X509_get_serialNumber(made), recipe.serial)
        let name = Self.name(recipe.subject)
        X509_set_subject_name(made, name)
        X509_set_issuer_name(made, issuer.map { X509_get_subject_name($0.certificate.handle) } ?? name)
        X509_NAME_free(name)
        ASN1_TIME_set(X509_getm_notBefore(made), Self.now + recipe.begins * 86_400)
        ASN1_TIME_set(X509_getm_notAfter(made), Self.now + recipe.ends * 86_400)
        X509_set_pubkey(made, recipe.key.handle)
        for (name, value) in recipe.extensions { Self.add(name, value, to: made, by: issuer) }
        Self.sign(made, recipe, by: issuer?.key ?? recipe.key)
        // It is read again, because OpenSSL remembers how an object was made.
        guard let read = try? Certificate(der: Certificate(takingOwnership: made).der) else {
            preconditionFailure("made what is no certificate")
        }
        certificate = read
        key = recipe.key
    }

    private init(_ certificate: Certificate, _ key: TestKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Returns the certificate with other bytes.
    func altered(_ change: (inout [UInt8]) -> Void) throws -> TestCertificate {
        var der = certificate.der
        change(&der)
        return TestCertificate(try Certificate(der: der), key)
    }

    static func name(_ text: String) -> OpaquePointer {
        let name = X509_NAME_new()!
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            X509_NAME_add_entry_by_txt(name, String(pair[0]), MBSTRING_UTF8, String(pair[1]), -1, -1, 0)
        }
        return name
    }

    private static func add(_ name: String, _ value: String, to made: OpaquePointer, by issuer: TestCertificate?) {
        // There is no identifier of a key that has none.
        if name == "authorityKeyIdentifier", value.hasPrefix("keyid"), let issuer,
            X509_get_ext_by_NID(issuer.certificate.handle, NID_subject_key_identifier, -1) < 0
        {
            return
        }
        // A value may refer to a section that follows after a bar: `permitted;dirName:one|one|C=DE`.
        let parts = value.split(separator: "|").map(String.init)
        let configuration = NCONF_new(nil)
        defer { NCONF_free(configuration) }
        if parts.count == 3 {
            let text = "[\(parts[1])]\n" + parts[2].split(separator: ",").joined(separator: "\n") + "\n"
            // The BIO reads where the bytes stand.
            Array(text.utf8).withUnsafeBytes { bytes in
                let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
                var line = 0
                NCONF_load_bio(configuration, source, &line)
                BIO_free(source)
            }
        }
        var context = v3_ext_ctx()
        X509V3_set_ctx(&context, issuer?.certificate.handle ?? made, made, nil, nil, 0)
        X509V3_set_nconf(&context, configuration)
        guard let extended = X509V3_EXT_nconf(configuration, &context, name, parts[0]) else {
            preconditionFailure("no extension \(name) = \(value)")
        }
        X509_add_ext(made, extended, -1)
        X509_EXTENSION_free(extended)
    }

    private static func sign(_ made: OpaquePointer, _ recipe: Recipe, by key: TestKey) {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        EVP_DigestSignInit(context, &parameters, recipe.digest.flatMap { EVP_get_digestbyname($0) }, nil, key.handle)
        if recipe.padding == "pss" {
            EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING)
            EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST)
        }
        precondition(X509_sign_ctx(made, context) > 0, "no signature with \(recipe.digest ?? "the key's own")")
    }
}

extension Certificate {
    var serialNumber: [UInt8] {
        guard let number = X509_get0_serialNumber(handle) else { return [] }
        let count = Int(ASN1_STRING_length(number))
        return [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(number), count: count))
    }
}
