// What the summary says of credentials that are more than a password, of parents, clients and the store.

extension KerberosSource {
    var summary: String {
        switch proof {
        case .keytab(let path): "kerberos \(principal) keytab \(path)"
        case .cache(let path): "kerberos \(principal) ccache \(path)"
        case .password(let password): "kerberos \(principal) password \(password)"
        }
    }
}

extension OAuthSource {
    var summary: String {
        var words = ["oauth2 \(endpoint) client-id \(clientID)"]
        switch proof {
        case .none: break
        case .secret(let secret, let inBody):
            words.append("client-secret \(secret)\(inBody ? " client-authentication post" : "")")
        case .key(let path, let passphrase, let id):
            words.append("key \(path)")
            if let passphrase { words.append("passphrase \(passphrase)") }
            if let id { words.append("key-id \(id)") }
        case .certificate(let path, let key, let passphrase):
            words.append("certificate \(path) key \(key)")
            if let passphrase { words.append("passphrase \(passphrase)") }
        }
        switch grant {
        case .clientCredentials: break
        case .refreshToken(let token): words.append("refresh-token \(token)")
        case .assertion(let token): words.append("assertion \(token)")
        }
        if !scopes.isEmpty { words.append("scope \(scopes.joined(separator: " "))") }
        if let audience { words.append("audience \(audience)") }
        return words.joined(separator: " ")
    }
}

extension SignatureSource {
    var summary: String {
        let token = sessionToken.map { " session-token \($0)" } ?? ""
        return "aws \(region) \(service) access-key \(accessKey) secret-key \(secretKey)\(token)"
            + (signsPayload ? "" : " payload unsigned")
    }
}

extension Configuration.Parent {
    var summary: String {
        var words = ["parent \(name)"]
        words += servers.map { "\($0.scheme.rawValue) \($0.address)" }
        if let automatic { words.append("pac \(automatic)") }
        words += trusted.map { "credentials \($0)" }
        words += exceptions.map { "except \($0)" }
        return words.joined(separator: " ")
    }
}

extension Configuration.Clients {
    /// The lines about who they are.
    var summary: [String] {
        guard !methods.isEmpty else { return [] }
        var words = ["clients authenticate \(methods.map(\.rawValue).joined(separator: " "))"]
        if let users { words.append("users \(users)") }
        if let nonceKey { words.append("nonce-key \(nonceKey)") }
        if let keytab { words.append("keytab \(keytab)") }
        if principals != [.users] {
            words.append("allow-principals \(principals.map(\.description).joined(separator: " "))")
        }
        if let tokens { words.append("tokens \(tokens)") }
        return [words.joined(separator: " ")]
    }
}

extension Configuration.Store {
    var summary: String {
        let place =
            switch place {
            case .sqlite(let path): "sqlite \(path)"
            case .postgresql(let connection): "postgresql \(connection)"
            }
        return place + (key.map { " key \($0)" } ?? "")
    }
}

extension AnswerTerms {
    /// The modifiers, as the rule file would say them.
    var summary: [String] {
        var words: [String] = []
        if let servicePrincipal { words.append("spn \(servicePrincipal)") }
        if delegates { words.append("delegate yes") }
        if canonicalises { words.append("canonicalise yes") }
        if let form { words.append(form.summary) }
        return words
    }
}

extension LoginForm {
    fileprivate var summary: String {
        var words: [String] = []
        for sign in signs {
            words.append("recognise")
            if let status = sign.status { words.append("status \(status)") }
            if let location = sign.location { words.append("location \(location)") }
            if let text = sign.text { words.append("contains \"\(text)\"") }
        }
        words.append("login \(action)")
        words += fields.map { "\($0.name)=\($0.value.map(\.words).joined())" }
        return "form { \(words.joined(separator: " ")) }"
    }
}

extension LoginForm.Field.Part {
    fileprivate var words: String {
        switch self {
        case .text(let text): text
        case .user: "{user}"
        case .password: "{password}"
        }
    }
}
