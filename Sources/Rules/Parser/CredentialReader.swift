import Bytes
import Model

/// Reads `credential`.
struct CredentialReader: BlockReader {
    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>, into draft: inout RuleDraft) {
        guard let value = directive.values.first else { return }
        let block = CredentialBlock(directives: context.directives(CredentialDirective.self, in: directive.node))
        name(value, in: &draft.credentials)
        guard let kind = credentialKind(block.directives, of: value, in: directive.node),
            let source = content(kind, block, of: value),
            let commands = HelperReader(context: context).settings(block, of: source),
            let placements = PlacementReader(context: context).read(block, of: kind, taken: &draft.placeholders),
            !value.text.isEmpty
        else { return }
        for words in block.directives.map(\.values)
        where words.count > 1 && words[0].namesToken && words[0].text == "credential" {
            draft.uses.append((words[1].text, words[1].range))
            draft.tokenUses.append(.init(user: value.text, name: words[1].text, range: words[1].range))
        }
        let content = placements.isEmpty ? source : CredentialSource.placed(source, placements)
        var credential = Configuration.Credential(
            name: value.text, content: content, rule: context.reference(value.text, directive.node))
        credential.commands = commands
        draft.configuration.credentials.append(credential)
    }

    private func name(_ value: Value, in names: inout [ExactText: SourceRange]) {
        if value.text.isEmpty {
            refuse(value, "a credential needs a name")
        } else if let first = names[ExactText(value.text)] {
            let place = context.sources.place(of: first)
            log.report(at: value.range, "there is already a credential \(value.shown), at \(place)")
        } else {
            names[ExactText(value.text)] = value.range
        }
    }

    /// The kind of a credential, if nothing is missing and nothing belongs to another kind.
    private func credentialKind(
        _ said: [Directive<CredentialDirective>], of name: Value, in node: SyntaxNode
    ) -> ContentKind? {
        let words = node.block?.nodes.map { CredentialDirective(rawValue: $0.name.text) } ?? []
        // An unknown word was already reported, and is probably the missing one.
        let isDoubtful = words.contains(nil)
        guard let kind = ContentKind(words.compactMap { $0 }) else {
            let sentence =
                "the credential \(name.shown) is empty: add 'user' and 'password', or 'certificate' and 'key', or another kind"
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
            // RFC 8693 section 2.1: a server may exchange tokens without knowing clients.
            if needed == .clientID, words.contains(.subjectToken) { continue }
            if needed == .accessKey || needed == .secretKey, words.contains(.helper) { continue }
            isSound = false
            log.report(at: name.range, "the credential \(name.shown) has no '\(needed.rawValue)'")
        }
        return isSound ? kind : nil
    }

    /// Returns the content; nil if a value is missing or wrong, which was reported.
    private func content(_ kind: ContentKind, _ block: CredentialBlock, of name: Value) -> CredentialSource? {
        let tokens = TokenReader(context: context)
        let secret = { (word: CredentialDirective) in block.value(word).flatMap(parse.secret) }
        switch kind {
        case .password:
            guard let user = secret(.user), let password = secret(.password) else { return nil }
            return .password(user: user, password: password)
        case .pem:
            guard let certificate = block.value(.certificate), let key = block.value(.key) else { return nil }
            return .identity(
                .pem(certificate: parse.path(certificate), key: context.keyFile(key), passphrase: secret(.passphrase)))
        case .pkcs12:
            return block.value(.pkcs12).map {
                .identity(.pkcs12(context.keyFile($0), passphrase: secret(.passphrase)))
            }
        case .pkcs11:
            return block.value(.pkcs11).flatMap(tokenURI).map {
                .identity(.pkcs11($0, passphrase: secret(.passphrase)))
            }
        case .kerberos: return tokens.kerberos(block, of: name).map { .kerberos($0) }
        case .token: return secret(.token).map { .token($0) }
        case .oauth: return tokens.oauth(block).map { .oauth($0) }
        case .registry: return tokens.registry(block).map { .registry($0) }
        case .helper: return HelperReader(context: context).helper(block).map { .helper($0) }
        case .aws: return SignatureReader(context: context).aws(block).map { .signature($0) }
        case .oauth1: return SignatureReader(context: context).oauth1(block, of: name).map { .signature($0) }
        case .message: return SignatureReader(context: context).message(block).map { .signature($0) }
        }
    }

    /// Parses a PKCS#11 URI (RFC 7512). A PIN is refused: it would be shown wherever the URI is.
    private func tokenURI(_ value: Value) -> String? {
        let text = Array(value.text.utf8)
        guard value.text.hasPrefix("pkcs11:"), text.count > 7 else {
            refuse(value, "\(value.shown) is not a PKCS#11 URI: it must begin with 'pkcs11:'")
            return nil
        }
        for attribute in ["pin-value=", "pin-source="] where text.firstIndex(ofWord: attribute) != nil {
            refuse(value, "write the PIN in 'passphrase', not in the PKCS#11 URI")
            return nil
        }
        return value.text
    }
}
