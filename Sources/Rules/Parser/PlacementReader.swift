import Bytes
import Model

/// Reads `header`, `query` and `placeholder` in a `credential`: its places in requests, instead of `Authorization`.
struct PlacementReader: BlockReader {
    let context: ReadingContext

    private static let mostPlaces = 8
    private static let longestName = 64
    private static let longestValue = 256

    /// Returns the places; nil if one of them is wrong, which was reported.
    ///
    /// - Parameter taken: the placeholders of the credentials before. That of this one is added.
    func read(
        _ block: CredentialBlock, of kind: ContentKind, taken: inout [String: SourceRange]
    ) -> [CredentialPlacement]? {
        guard let directive = block.directive(.placeholder), let text = directive.values.first else {
            return places(block, of: kind)
        }
        if let query = block.said([.query]).first {
            log.report(
                at: query.node.name.range,
                "'query' and 'placeholder' exclude each other: a placeholder is replaced in fields only")
            return nil
        }
        guard check(text, taken: taken), let fields = places(block, of: kind, isForPlaceholder: true) else {
            return nil
        }
        taken[text.text] = text.range
        let names = fields.compactMap { if case .field(let name) = $0.place { name.lowercased() } else { nil } }
        return [
            CredentialPlacement(
                .placeholder(text.text, fields: names), value: [kind == .token ? .token : .password])
        ]
    }

    /// Checks a placeholder. It looks like nothing that a client writes by chance, and has no character that another
    /// program would encode.
    private func check(_ text: Value, taken: [String: SourceRange]) -> Bool {
        if let first = taken[text.text] {
            let place = context.sources.place(of: first)
            log.report(at: text.range, "another credential has this placeholder, at \(place): each needs its own")
            return false
        }
        let bytes = Array(text.text.utf8)
        guard Placeholders.lengths.contains(bytes.count), text.text.utf8.allSatisfy(\.isOfPlaceholder),
            bytes.span.firstPlaceholderMark(in: 0..<bytes.count) != nil
        else {
            refuse(
                text,
                "a placeholder has \(Placeholders.lengths.lowerBound) to \(Placeholders.lengths.upperBound) letters, digits or -._~+/=, "
                    + "and '\(Span<UInt8>.placeholderMark)' among them: write one that 'attache credential placeholder' prints"
            )
            return false
        }
        return true
    }

    /// - Parameter isForPlaceholder: whether the places only say where a placeholder may be, so that they need no value.
    private func places(
        _ block: CredentialBlock, of kind: ContentKind, isForPlaceholder: Bool = false
    ) -> [CredentialPlacement]? {
        var placements: [CredentialPlacement] = []
        let said = block.said([.header, .query])
        for directive in said {
            guard let name = directive.values.first, let place = place(directive.name, name),
                let value = isForPlaceholder && directive.values.count == 1 ? [] : value(directive, of: kind)
            else { continue }
            if placements.contains(where: { Self.areSame($0.place, place) }) {
                refuse(name, "\(name.shown) is written twice")
                continue
            }
            if placements.count == Self.mostPlaces {
                refuse(name, "no more than \(Self.mostPlaces) lines of 'header' and 'query'")
            }
            placements.append(CredentialPlacement(place, value: value))
        }
        return placements.count == said.count ? placements : nil
    }

    private static func areSame(_ one: CredentialPlacement.Place, _ other: CredentialPlacement.Place) -> Bool {
        switch (one, other) {
        case (.field(let one), .field(let other)): one.lowercased() == other.lowercased()
        default: one == other
        }
    }

    private func place(_ directive: CredentialDirective, _ name: Value) -> CredentialPlacement.Place? {
        let bytes = Array(name.text.utf8)
        let isName = !bytes.isEmpty && bytes.count <= Self.longestName
        if directive == .query {
            if isName, bytes.allSatisfy(\.isUnreserved) { return .parameter(name.text) }
            refuse(name, "\(name.shown) is not a parameter name: use letters, digits and -._~, 64 at most")
            return nil
        }
        guard isName, bytes.allSatisfy(\.isTokenByte) else {
            refuse(name, "\(name.shown) is not a field name such as X-Api-Key")
            return nil
        }
        let lower = name.text.lowercased()
        if Self.reserved.contains(lower) || lower.hasPrefix("proxy-") {
            refuse(name, "the proxy writes \(name.shown) itself, or it belongs to the connection: use another field")
            return nil
        }
        return .field(name.text)
    }

    /// Parses the parts of the value. For a token alone it may be omitted.
    private func value(_ directive: Directive<CredentialDirective>, of kind: ContentKind) -> [CredentialPlacement
        .Part]?
    {
        let isToken = kind == .token
        let words = isToken ? "'{token}'" : "'{user}' and '{password}'"
        guard directive.values.count > 1 else {
            if isToken { return [.token] }
            log.report(at: directive.range, "'\(directive.name.rawValue)' needs a value with \(words) in it")
            return nil
        }
        let value = directive.values[1]
        if directive.values.count > 2 {
            refuse(
                directive.values[2],
                "'\(directive.name.rawValue)' takes a name and a value: put text with blanks in quotes")
            return nil
        }
        guard value.text.utf8.allSatisfy({ $0 >= .space && $0 < .delete }), value.text.utf8.count <= Self.longestValue
        else {
            refuse(value, "a value must be ASCII, and have \(Self.longestValue) characters at most")
            return nil
        }
        let known: [(String, CredentialPlacement.Part)] =
            isToken ? [("token", .token)] : [("user", .user), ("password", .password)]
        let parts = TemplateReader.parts(of: value.text[...], known, text: CredentialPlacement.Part.text) { _ in
            refuse(value, "unknown word in braces: this credential has \(words)")
        }
        guard let parts else { return nil }
        if parts.contains(where: { if case .text = $0 { false } else { true } }) { return parts }
        refuse(value, "this value does not contain the credential: write \(words) in it")
        return nil
    }

    /// The fields that frame a message, direct it or end at the next hop, and those of sessions.
    private static let reserved: Set = [
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "max-forwards", "te", "trailer",
        "transfer-encoding", "upgrade", "via",
    ]
}

extension UInt8 {
    /// Whether the byte is unreserved (RFC 3986 section 2.3).
    fileprivate var isUnreserved: Bool {
        isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || "-._~".utf8.contains(self)
    }
}
