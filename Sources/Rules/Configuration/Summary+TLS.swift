// What the summary says of TLS and of credentials.

extension Configuration.Listener {
    var summary: String {
        guard let tls else { return "listen \(endpoint)" }
        let clients = tls.clients.map { " clients \($0.authorities)\($0.isRequired ? " required" : "")" } ?? ""
        return "listen \(endpoint) tls certificate \(tls.certificate) key \(tls.key)\(clients)"
    }
}

extension Configuration.Credential.Content {
    var summary: String {
        switch self {
        case .password(let user, let password): "user \(user) password \(password)"
        case .identity(let source): source.summary
        case .kerberos(let source): source.summary
        case .token(let token): "token \(token)"
        case .oauth(let source): source.summary
        case .signature(let source): source.summary
        }
    }
}

extension IdentitySource {
    fileprivate var summary: String {
        let (words, passphrase) =
            switch self {
            case .pem(let certificate, let key, let passphrase): ("certificate \(certificate) key \(key)", passphrase)
            case .pkcs12(let path, let passphrase): ("pkcs12 \(path)", passphrase)
            case .pkcs11(let uri, let passphrase): ("pkcs11 \"\(uri)\"", passphrase)
            }
        return words + (passphrase.map { " passphrase \($0)" } ?? "")
    }
}

extension Configuration.Route {
    var summary: String {
        var words = ["route", "\(host)\(port.map { ":\($0)" } ?? "")", action.rawValue]
        switch upgrade {
        case .standard: words.append("upgrade")
        case .port(let port): words.append("upgrade \(port)")
        case nil: break
        }
        if decodesContent { words.append("decode") }
        if let minimum = tls?.minimum { words.append("tls minimum \(minimum.rawValue)") }
        words += tls?.revocation.map { "tls revocation \($0)" } ?? []
        if let detour { words.append("via \(detour.words)") }
        return words.joined(separator: " ")
    }
}

extension TrustTerms {
    /// The modifiers, as the rule file would say them.
    var summary: [String] {
        var words: [String] = []
        if !allow.isEmpty { words.append("allow \(allow)") }
        words += pins.map { "pin \($0)" }
        if !anchors.isEmpty {
            words.append("anchor \(anchors.joined(separator: " "))\(hasOnlyItsAnchors ? " only" : "")")
        }
        if let name { words.append("name \(name)") }
        if let until { words.append("until \(until)") }
        return words
    }
}
