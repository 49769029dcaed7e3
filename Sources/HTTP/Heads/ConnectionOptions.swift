import Bytes

/// The connection options of a message (RFC 9110 section 7.6.1) that the proxy uses.
public struct ConnectionOptions: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let close = ConnectionOptions(rawValue: 1)
    public static let keepAlive = ConnectionOptions(rawValue: 2)
    public static let upgrade = ConnectionOptions(rawValue: 4)

    /// The limit of options. No honest message has more; each is compared with every field.
    static let most = 64

    /// Reads every `Connection` line and nominates the fields that they name.
    ///
    /// An option with the name of an essential field is an attack: its sender wants a hop to remove the field. A
    /// request with one is refused. In a response, where the server harms only itself, the field is kept.
    /// `Transfer-Encoding`, `TE` and similar fields are hop-by-hop in any case, and naming them changes nothing.
    init(_ bytes: Span<UInt8>, fields: borrowing FieldTable, refusingEssential: Bool) throws(Defect) {
        self = []
        guard fields.present.contains(.connection) else { return }
        var count = 0
        var next = fields.firstIndex(of: .connection)
        while let index = next {
            next = fields.index(of: .connection, after: index)
            if let known = Self.known(bytes, fields[index].value) {
                insert(known)
                continue
            }
            var list = ListReader(fields[index].value)
            while let token = list.next(bytes) {
                guard bytes.endOfToken(in: token) == token.upperBound else {
                    throw .malformedConnection
                }
                count += 1
                guard count <= Self.most else { throw .tooManyConnectionOptions(limit: Self.most) }
                if let known = Self.known(bytes, token) {
                    insert(known)
                    continue
                }
                let name = KnownField(bytes, in: token)
                if name == .transferEncoding { continue }
                if FieldSet.essential.contains(name) {
                    if refusingEssential { throw .connectionNamesEssentialField }
                    continue
                }
                fields.nominate(token, in: bytes)
            }
        }
    }

    /// Reads the options of a `Proxy-Connection` line, which RFC 9112 appendix C.2.2 calls a misunderstanding.
    static func proxyConnection(_ bytes: Span<UInt8>, fields: FieldTable) -> ConnectionOptions {
        var options: ConnectionOptions = []
        var next = fields.firstIndex(of: .proxyConnection)
        while let index = next {
            next = fields.index(of: .proxyConnection, after: index)
            if let known = known(bytes, fields[index].value) {
                options.insert(known)
                continue
            }
            var list = ListReader(fields[index].value)
            while let token = list.next(bytes) {
                if let known = known(bytes, token) { options.insert(known) }
            }
        }
        return options
    }

    private static func known(_ bytes: Span<UInt8>, _ token: Range<Int>) -> ConnectionOptions? {
        switch token.count {
        case 5: bytes.foldedWord(at: token.lowerBound, count: 5) == word("close") ? .close : nil
        case 7: bytes.foldedWord(at: token.lowerBound, count: 7) == word("upgrade") ? .upgrade : nil
        case 10:
            bytes.foldedWord(at: token.lowerBound, count: 8) == word("keep-ali")
                && bytes.foldedWord(at: token.upperBound &- 8, count: 8) == word("ep-alive") ? .keepAlive : nil
        default: nil
        }
    }

    /// The `Connection` field of a head that we write; the default of HTTP/1.1 needs no line.
    public enum Line: UInt8, Sendable {
        case none
        case close
        /// The line for HTTP/1.0 clients.
        case keepAlive
        /// The line, together with the `Upgrade` lines of the original.
        case upgrade

        func append(to writer: borrowing HeadWriter) {
            switch self {
            case .none: break
            case .close: writer.buffer.append(literal: "Connection: close\r\n")
            case .keepAlive: writer.buffer.append(literal: "Connection: keep-alive\r\n")
            case .upgrade: writer.buffer.append(literal: "Connection: Upgrade\r\n")
            }
        }
    }
}
