/// A message as a conversation writes it: what is sent, or a pattern of what must come.
struct MessageText {
    let start: String
    let fields: [(name: String, value: String)]
    /// Nil where no content is written.
    let content: String?

    /// Fields that no message has unnamed.
    static let strict: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "expect", "www-authenticate", "proxy-authenticate",
        "authentication-info", "proxy-authentication-info", "set-cookie", "proxy-status",
        "traceparent", "tracestate",
    ]

    /// - Returns: nil for what has no HTTP version in its first line, or no colon in a field line.
    init?(_ first: Substring, _ more: ArraySlice<Substring>) {
        guard first.contains("HTTP/1.") else { return nil }
        start = String(first)
        let head = more.prefix { !$0.isEmpty }
        var fields: [(name: String, value: String)] = []
        for line in head {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields.append((String(line[..<colon]), String(line[line.index(after: colon)...].trimmed)))
        }
        self.fields = fields
        content = head.count < more.count ? more.dropFirst(head.count + 1).joined(separator: "\n") : nil
    }

    var isResponse: Bool { start.hasPrefix("HTTP/") }

    /// The bytes of the message, with the fields that its writer may leave out.
    func bytes(_ variables: Variables) -> [UInt8] {
        var lines = [variables.filled(start)]
        lines += fields.filter { $0.value != "-" }.map { "\($0.name): \(variables.filled($0.value))" }
        let body = Array(variables.filled(content ?? "").utf8)
        if !isResponse, !has("host"), let host = host(of: lines[0]) { lines.append("Host: \(host)") }
        if !has("content-length"), !has("transfer-encoding"), content != nil || mayHaveContent {
            lines.append("Content-Length: \(body.count)")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    var isChunked: Bool { fields.contains { $0.name.lowercased() == "transfer-encoding" } }

    private func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }

    /// Whether a response of this status says how long its content is.
    private var mayHaveContent: Bool {
        guard isResponse, let status = start.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            return false
        }
        return status >= 200 && status != 204 && status != 304
    }

    private func host(of line: String) -> Substring? {
        let target = line.split(separator: " ").dropFirst().first ?? ""
        guard let scheme = target.firstRange(of: "://") else { return line.hasPrefix("CONNECT ") ? target : nil }
        let authority = target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }

    /// - Returns: a sentence about the first difference; nil: it is as it was to be.
    func difference(from head: PlayedHead, _ variables: inout Variables) -> String? {
        guard variables.match(start, head.start) else { return "the first line is not “\(variables.filled(start))”" }
        var rest = head.fields
        for (name, pattern) in fields {
            let candidates = rest.indices.filter { rest[$0].name.lowercased() == name.lowercased() }
            if pattern == "-" {
                if !candidates.isEmpty { return "there is a field \(name)" }
                continue
            }
            guard let found = candidates.first(where: { variables.match(pattern, rest[$0].value) }) else {
                return "no field “\(name): \(variables.filled(pattern))”"
            }
            rest.remove(at: found)
        }
        let surplus = rest.first { Self.strict.contains($0.name.lowercased()) }
        return surplus.map { "a field that the conversation does not name: “\($0.name): \($0.value)”" }
    }
}

/// The head of a message that came.
struct PlayedHead {
    let start: String
    let fields: [(name: String, value: String)]
    /// The bytes that it takes up.
    let count: Int

    /// Nil until it is whole.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        start = String(lines.first ?? "")
        fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (String(name), String(line.dropFirst(name.count + 1).trimmed))
        }
        count = end.upperBound - bytes.startIndex
    }

    subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name }?.value
    }
}
