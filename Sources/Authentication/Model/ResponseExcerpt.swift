/// The parts of a response that say why it challenges, for people: bounded, printable, and without the secrets that were sent.
public struct ResponseExcerpt: Sendable, Equatable {
    public let status: Int
    /// `Name: value`, those that may explain something.
    public let fields: [String]
    /// The beginning of its text; nil where it has none, or none had come when it was looked at.
    public private(set) var text: String?

    /// Bytes of content that are looked at, and of its text that are kept.
    public static let contentLimit = 8192
    public static let textLimit = 1024
    private static let fieldLimit = 8
    private static let fieldLength = 256

    /// - Parameters:
    ///   - fields: names and values of all the response's fields.
    ///   - mask: hides what was sent.
    public init(status: Int, fields: [(name: String, value: String)], hiding mask: EchoMask) {
        self.status = status
        let telling = fields.lazy.filter { !Self.untold.contains($0.name.lowercased()) }
        self.fields = telling.prefix(Self.fieldLimit).map { name, value in
            Self.shown("\(name): \(value)", upTo: Self.fieldLength, hiding: mask)
        }
    }

    /// Takes its text.
    ///
    /// - Parameter text: the beginning of the content as people read it.
    mutating func take(text: String, hiding mask: EchoMask) {
        let shown = Self.shown(text, upTo: Self.textLimit, hiding: mask)
        if !shown.isEmpty { self.text = shown }
    }

    /// A text fit to be shown, of at most `limit` bytes. No more of it is searched for secrets than may be seen of one.
    private static func shown(_ text: String, upTo limit: Int, hiding mask: EchoMask) -> String {
        let line = line(text)
        let shown = mask.hide(in: front(of: line, limit + mask.reach))
        if shown.utf8.count <= limit, line.utf8.count <= limit + mask.reach { return shown }
        return front(of: shown, limit - 3) + "…"
    }

    /// The beginning of a text, at most so many bytes of it.
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

    /// The words of a text with one blank between them, and without anything that steers a terminal.
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

    /// Fields that are shown elsewhere, are secret, or are about the connection, caches and browsers.
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
