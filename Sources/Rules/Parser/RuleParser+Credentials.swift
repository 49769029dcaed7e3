extension RuleParser {
    func credential(_ directive: Directive<FileDirective>) {
        guard let value = directive.values.first else { return }
        let said = directives(CredentialDirective.self, in: directive.node)
        nameCredential(value)
        guard let kind = credentialKind(said, of: value, in: directive.node),
            let content = content(kind, CredentialBlock(said), of: value), !value.text.isEmpty
        else { return }
        configuration.credentials.append(
            .init(name: value.text, content: content, rule: reference(value.text, directive.node)))
    }

    private func nameCredential(_ value: Value) {
        if value.text.isEmpty {
            refuse(value, "a credential needs a name")
        } else if let first = credentialRanges[value.text] {
            log.report(at: value.range, "a credential \(value.shown) exists already, at \(sources.place(of: first))")
        } else {
            credentialRanges[value.text] = value.range
        }
    }

    /// What kind of credential a block is, if nothing that it needs is missing and nothing is of another kind.
    private func credentialKind(
        _ said: [Directive<CredentialDirective>], of name: Value, in node: SyntaxNode
    ) -> CredentialKind? {
        let words = node.block?.nodes.map { CredentialDirective(rawValue: $0.name.text) } ?? []
        // A word that is no directive was reported, and is probably the one that is missing.
        let isDoubtful = words.contains(nil)
        guard let kind = CredentialKind(words.compactMap { $0 }) else {
            let sentence = "the credential \(name.shown) has neither 'user' and 'password' nor 'certificate' and 'key'"
            if !isDoubtful { log.report(at: name.range, sentence) }
            return nil
        }
        var isSound = true
        for directive in said where !kind.allows(directive.name) {
            isSound = false
            log.report(
                at: directive.node.name.range,
                "'\(directive.name.rawValue)' does not belong here: this credential is \(kind.shown)")
        }
        for needed in kind.needed where !isDoubtful && isSound && !words.contains(needed) {
            isSound = false
            log.report(at: name.range, "the credential \(name.shown) has no '\(needed.rawValue)'")
        }
        return isSound ? kind : nil
    }

    /// Nil when a value is missing or wrong, which was reported.
    private func content(
        _ kind: CredentialKind, _ block: CredentialBlock, of name: Value
    ) -> Configuration.Credential.Content? {
        let secret = { (word: CredentialDirective) in block.value(word).flatMap(self.secret) }
        switch kind {
        case .password:
            guard let user = secret(.user), let password = secret(.password) else { return nil }
            return .password(user: user, password: password)
        case .pem:
            guard let certificate = block.value(.certificate), let key = block.value(.key) else { return nil }
            return .identity(
                .pem(certificate: path(certificate), key: path(key), passphrase: secret(.passphrase)))
        case .pkcs12:
            return block.value(.pkcs12).map { .identity(.pkcs12(path($0), passphrase: secret(.passphrase))) }
        case .pkcs11:
            return block.value(.pkcs11).flatMap(tokenURI).map {
                .identity(.pkcs11($0, passphrase: secret(.passphrase)))
            }
        case .kerberos: return kerberos(block, of: name).map { .kerberos($0) }
        case .token: return secret(.token).map { .token($0) }
        case .oauth: return oauth(block).map { .oauth($0) }
        case .signature: return signature(block).map { .signature($0) }
        }
    }

    /// A PKCS#11 URI (RFC 7512). A PIN in it would be shown wherever the URI is.
    private func tokenURI(_ value: Value) -> String? {
        let text = Array(value.text.utf8)
        guard value.text.hasPrefix("pkcs11:"), text.count > 7 else {
            refuse(value, "\(value.shown) is no PKCS#11 URI; one begins with 'pkcs11:'")
            return nil
        }
        for attribute in ["pin-value=", "pin-source="] where text.firstIndex(ofWord: attribute) != nil {
            refuse(value, "the PIN of a PKCS#11 URI stands in 'passphrase'")
            return nil
        }
        return value.text
    }

    func secret(_ value: Value) -> ValueSource? {
        switch value.origin {
        case .environment(let name): return .environment(name)
        case .file(let path): return .file(path)
        case .written:
            // RFC 7617 section 2: neither user nor password may hold a control character.
            if value.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                refuse(value, "a control character cannot be sent in a credential")
                return nil
            }
            return .literal(RedactedText(value.text))
        }
    }
}
