import Bytes
import Model

/// Reads `authority`.
struct AuthorityReader: BlockReader {
    enum Word: String, DirectiveName {
        case certificate
        case key
        case passphrase
        case names

        static let block: String? = "authority"

        var grammar: DirectiveGrammar {
            switch self {
            case .certificate, .key: .one("a path", .path)
            case .passphrase: .one("a value, 'env' and a name, or 'file' and a path", .atUse)
            case .names: .some("names such as *.example.com, addresses or blocks", repeats: true)
            }
        }
    }

    let context: ReadingContext

    func read(_ node: SyntaxNode, into authority: inout Configuration.Authority) {
        var certificate: String?
        var key: String?
        var passphrase: ValueSource?
        for inner in context.directives(AuthorityReader.Word.self, in: node) {
            guard let value = inner.values.first else { continue }
            switch inner.name {
            case .certificate: certificate = parse.path(value)
            case .key: key = context.keyFile(value)
            case .passphrase: passphrase = parse.secret(value)
            case .names: authority.names += inner.values.compactMap(authorityName)
            }
        }
        if certificate != nil || key != nil, authority.files != nil {
            log.report(at: node.name.range, "another 'authority' has the certificate and the key already")
            return
        }
        if let certificate, let key {
            authority.files = .init(certificate: certificate, key: key, passphrase: passphrase)
        }
        let said = Set(node.block?.nodes.map(\.name.text) ?? [])
        let files: [AuthorityReader.Word] = [.certificate, .key]
        guard (files + [.passphrase]).contains(where: { said.contains($0.rawValue) }) else { return }
        for needed in files where !said.contains(needed.rawValue) {
            log.report(
                at: node.name.range,
                "the authority has no '\(needed.rawValue)': add it, or remove both and the CA is created in 'state'")
        }
    }

    /// Parses a name constraint. It means "this and all below it"; `*.` before a name excludes the name itself.
    private func authorityName(_ value: Value) -> Configuration.Authority.Name? {
        guard let pattern = parse.hostPattern(value, value.text) else { return nil }
        switch pattern.form {
        case .exact:
            // A pattern treats one IPv4 address like a name.
            let address = IPAddress(pattern.description).flatMap { AddressPrefix(holding: $0, length: 32) }
            return address.map { .addresses($0) } ?? .domain(pattern.description, withItself: true)
        case .suffix(let end): return .domain(String(decoding: end.dropFirst(), as: UTF8.self), withItself: false)
        case .addresses(let prefix): return .addresses(prefix)
        case .any, .glob:
            refuse(value, "\(value.shown) is not possible in a certificate: write '*' alone, before the first dot")
            return nil
        }
    }
}
