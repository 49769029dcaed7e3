/// The parts of a response that explain a challenge to people: limited, printable, and without the secrets that were
/// sent.
public struct ResponseExcerpt: Sendable, Equatable {
    public let status: Int
    /// The fields that may explain the challenge, as `Name: value`.
    public let fields: [String]
    /// The beginning of the text; nil if there is no text, or if none had arrived yet.
    public private(set) var text: String?

    /// The bytes of content that are read, and the bytes of text that are kept.
    public static let contentLimit = 8192
    public static let textLimit = 1024
    private static let fieldLimit = 8
    private static let fieldLength = 256

    /// - Parameters:
    ///   - fields: names and values of all the response's fields.
    ///   - mask: hides the secrets that were sent.
    public init(status: Int, fields: [(name: String, value: String)], hiding mask: EchoMask) {
        self.status = status
        let telling = fields.lazy.filter { !Self.untold.contains($0.name.lowercased()) }
        self.fields = telling.prefix(Self.fieldLimit).map { name, value in
            Self.shown("\(name): \(value)", upTo: Self.fieldLength, hiding: mask)
        }
    }

    /// Sets the text.
    ///
    /// - Parameter text: the beginning of the content as people read it.
    mutating func take(text: String, hiding mask: EchoMask) {
        let shown = Self.shown(text, upTo: Self.textLimit, hiding: mask)
        if !shown.isEmpty { self.text = shown }
    }

    /// The text to show, of at most `limit` bytes. Only that part, and the length of a secret beyond it, is searched
    /// for secrets.
    private static func shown(_ text: String, upTo limit: Int, hiding mask: EchoMask) -> String {
        let line = line(text)
        let shown = mask.hide(in: front(of: line, limit + mask.reach))
        if shown.utf8.count <= limit, line.utf8.count <= limit + mask.reach { return shown }
        return front(of: shown, limit - 3) + "…"
    }

    /// The beginning of a text, at most this many bytes.
    private static func front(of text: String, _ count: Int) -> String {
        guard text.utf8.count > count else { return text }
        var (front, room) = (String.UnicodeScalarView(), count)
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            if room < 0 { break }
            front.append(scalar)
        }
        return String(front)
    }

    /// The words of a text with one blank between them, without terminal control characters.
    static func line(_ text: String) -> String {
        var (line, isParted) = (String.UnicodeScalarView(), false)
        for scalar in text.unicodeScalars {
            if !(0x21..<0x7F).contains(scalar.value) {
                switch scalar.properties.generalCategory {
                case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator:
                    isParted = true
                    continue
                case .format, .surrogate, .privateUse, .unassigned: continue
                default: break
                }
            }
            if isParted, !line.isEmpty { line.append(" ") }
            isParted = false
            line.append(scalar)
        }
        return String(line)
    }

    /// The fields that are shown elsewhere, are secret, or concern the connection, caches and browsers.
    private static let untold: Set<String> = [
        "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "set-cookie",
        "set-cookie2", "connection", "proxy-connection", "keep-alive", "transfer-encoding", "content-length",
        "content-type", "content-encoding", "content-language", "date", "vary", "etag", "last-modified",
        "accept-ranges",
        "age", "cache-control", "expires", "pragma", "strict-transport-security", "content-security-policy",
        "x-frame-options", "x-content-type-options", "x-xss-protection", "referrer-policy", "permissions-policy",
        "alt-svc", "persistent-auth", "via",
    ]
}
