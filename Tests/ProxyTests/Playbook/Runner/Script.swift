import TestNetwork

/// A conversation as it is written, step by step.
struct Script {
    struct Step {
        /// The lines as written.
        var lines: [Substring]
        var action: Action
        /// Whether it happens together with the step before.
        var isJoined: Bool
    }

    enum Party: Hashable, CustomStringConvertible {
        case client(Int)
        case server(Int)

        /// `client`, `client 2`, `server`, `server 2`.
        init?(_ name: some StringProtocol) {
            let words = name.split(separator: " ")
            guard let kind = words.first, words.count <= 2 else { return nil }
            guard let number = words.count == 1 ? 1 : Int(words[1]), number > 0 else { return nil }
            switch kind {
            case "client": self = .client(number)
            case "server": self = .server(number)
            default: return nil
            }
        }

        var description: String {
            switch self {
            case .client(let number): number == 1 ? "client" : "client \(number)"
            case .server(let number): number == 1 ? "server" : "server \(number)"
            }
        }
    }

    enum Action {
        /// A party acts.
        case send(Party?, Matter)
        /// The proxy does.
        case expect(Party?, Matter)
        case connect(to: String, PlayedDial.Outcome?)
        case pass(milliseconds: Int)
        case reload(String)
        case file(String, content: String)
        /// The files are read, as they are from time to time.
        case refresh
        /// An operator answers.
        case answer(String)
        case report(String)
        case log(MembersText)
        /// A line of the metrics.
        case metric(String)
        case journal(MembersText)
        case question(MembersText)
    }

    /// Something that passes on a connection.
    enum Matter {
        case message(MessageText)
        case content(Int)
        case endOfContent
        case raw(String)
        case close
        case end
        case reset
        case room
        case tls(host: String, accepting: String?)
        case accept
        case refuse
    }

    struct Flaw: Error {
        let sentence: String
    }

    private(set) var steps: [Step] = []

    init(_ text: String) throws(Flaw) {
        var blocks: [[Substring]] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.flatMap({ Self.opening($0) ?? [$0] }) {
            if line.trimmed.hasPrefix("#") { continue }
            if Self.begins(line.trimmed) || blocks.isEmpty {
                blocks.append([line])
            } else {
                blocks[blocks.count - 1].append(line)
            }
        }
        for var block in blocks {
            while let last = block.last, last.trimmed.isEmpty { block.removeLast() }
            if block.isEmpty { continue }
            var lines = block.map { $0.trimmed }
            let isJoined = lines[0].hasPrefix("and ")
            if isJoined { lines[0] = lines[0].dropFirst(4).trimmed }
            steps.append(Step(lines: block, action: try Self.action(of: lines), isJoined: isJoined))
        }
    }

    /// The lines of an opening: `challenged`, `answered` or `accepted`, and a URL. Nil for any other line.
    private static func opening(_ line: Substring) -> [Substring]? {
        let words = line.split(separator: " ")
        let counts = ["challenged": 5, "answered": 7, "accepted": 9]
        guard words.count == 3, words[1] == "GET", let count = counts[String(words[0])] else { return nil }
        let parts = words[2].dropFirst("http://".count).split(separator: "/", maxSplits: 1)
        guard words[2].hasPrefix("http://"), let host = parts.first else { return nil }
        let request = "<< GET /\(parts.dropFirst().first ?? "") HTTP/1.1"
        let all = [
            ">> GET \(words[2]) HTTP/1.1", "<< connect \(host):80", request,
            ">> HTTP/1.1 401 Unauthorized", "   WWW-Authenticate: Basic realm=\"x\"",
            request, "   Authorization: Basic base64(u:p)",
            ">> HTTP/1.1 200 OK", "<< HTTP/1.1 200 OK",
        ]
        return all.prefix(count).map { Substring($0) }
    }

    /// The files that exist before the proxy starts, by name.
    var firstFiles: [String: String] {
        var files: [String: String] = [:]
        for step in steps {
            guard case .file(let name, let content) = step.action else { break }
            files[name] = content
        }
        return files
    }

    /// Whether it names lines of the access log: then all of them.
    var speaksOfRecords: Bool {
        steps.contains { if case .log = $0.action { true } else { false } }
    }

    private static let keywords = [
        "after ", "reload", "file ", "refresh", "answer ", "report ", "log ", "metric ", "journal ", "question ",
    ]

    private static func begins(_ line: Substring) -> Bool {
        let line = line.hasPrefix("and ") ? line.dropFirst(4).trimmed : line
        return keywords.contains { line.hasPrefix($0) } || arrow(in: line) != nil
    }

    private struct Arrow {
        let party: Party?
        let isForProxy: Bool
        let rest: Substring
    }

    private static func arrow(in line: Substring) -> Arrow? {
        for mark in [">>", "<<"] {
            guard let range = line.firstRange(of: mark) else { continue }
            let name = line[..<range.lowerBound].trimmed
            let party = Party(name)
            guard name.isEmpty || party != nil else { continue }
            return Arrow(party: party, isForProxy: mark == ">>", rest: line[range.upperBound...].trimmed)
        }
        return nil
    }

    private static func action(of lines: [Substring]) throws(Flaw) -> Action {
        let first = lines.first ?? ""
        if let arrow = arrow(in: first) {
            if !arrow.isForProxy, arrow.rest.hasPrefix("connect ") { return try dial(arrow.rest) }
            let matter = try matter(arrow.rest, lines.dropFirst())
            return arrow.isForProxy ? .send(arrow.party, matter) : .expect(arrow.party, matter)
        }
        let words = first.split(separator: " ", maxSplits: 2)
        let rest = ([first.dropFirst(words.first?.count ?? 0).trimmed] + lines.dropFirst()).joined(separator: "\n")
        switch words.first {
        case "after": return .pass(milliseconds: try milliseconds(rest))
        case "reload": return .reload(rest)
        case "refresh": return .refresh
        case "answer": return .answer(rest)
        case "report": return .report(rest)
        case "metric": return .metric(rest)
        case "log":
            return .log(try members(["method", "target", "status"], first, lines.dropFirst()))
        case "journal": return .journal(try members(["scheme", "server", "outcome"], first, lines.dropFirst()))
        case "question": return .question(try members(["id"], first, lines.dropFirst()))
        case "file" where words.count > 1:
            return .file(String(words[1]), content: words.count > 2 ? unescaped(words[2]) : "")
        default: throw Flaw(sentence: "no step begins with “\(first)”")
        }
    }

    private static func members(
        _ names: [String], _ first: Substring, _ more: ArraySlice<Substring>
    ) throws(Flaw) -> MembersText {
        let line = first.drop { $0 != " " }.trimmed
        guard let text = MembersText(names, line, more) else {
            throw Flaw(sentence: "“\(first)” wants \(names.joined(separator: ", ")), and members in lines of their own")
        }
        return text
    }

    private static func dial(_ text: Substring) throws(Flaw) -> Action {
        let words = text.split(separator: " ")
        guard words.count == 2 || words.count == 3 else { throw Flaw(sentence: "connect HOST:PORT [OUTCOME]") }
        if words.count == 2 { return .connect(to: String(words[1]), .accepted) }
        switch words[2] {
        case "stalled": return .connect(to: String(words[1]), .stalled)
        case "refused": return .connect(to: String(words[1]), .refused)
        case "unreachable": return .connect(to: String(words[1]), .unreachable)
        case "pending": return .connect(to: String(words[1]), nil)
        default: throw Flaw(sentence: "no connection becomes “\(words[2])”")
        }
    }

    private static func matter(_ first: Substring, _ more: ArraySlice<Substring>) throws(Flaw) -> Matter {
        switch first {
        case "close": return .close
        case "end": return .end
        case "reset": return .reset
        case "room": return .room
        case "accept": return .accept
        case "refuse": return .refuse
        case "end of body": return .endOfContent
        default: break
        }
        if first.hasPrefix("tls ") {
            let words = first.split(separator: " ")
            guard words.count == 2 || words.count == 4 && words[2] == "accepting" else {
                throw Flaw(sentence: "“\(first)” is not `tls HOST` or `tls HOST accepting NAME`")
            }
            return .tls(host: String(words[1]), accepting: words.count == 4 ? String(words[3]) : nil)
        }
        if first.hasSuffix(" bytes"), let count = Int(first.dropLast(6)) { return .content(count) }
        if first.hasPrefix("\"") {
            let texts = ([first] + more).map { $0.trimmed }
            guard texts.allSatisfy({ $0.count > 1 && $0.hasPrefix("\"") && $0.hasSuffix("\"") }) else {
                throw Flaw(sentence: "a quotation has no end")
            }
            return .raw(texts.map { unescaped($0.dropFirst().dropLast()) }.joined())
        }
        guard let message = MessageText(first, more) else { throw Flaw(sentence: "“\(first)” is no message") }
        return .message(message)
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("\\r", with: "\r").replacing("\\n", with: "\n")
    }

    /// Returns the bytes of a quotation; `\\xNN` is a byte.
    static func bytes(of text: String) throws(Flaw) -> [UInt8] {
        let pieces = text.split(separator: "\\x", omittingEmptySubsequences: false)
        var bytes = Array((pieces.first ?? "").utf8)
        for piece in pieces.dropFirst() {
            guard let byte = UInt8(piece.prefix(2), radix: 16) else { throw Flaw(sentence: "“\\x\(piece)” is no byte") }
            bytes.append(byte)
            bytes += piece.dropFirst(2).utf8
        }
        return bytes
    }

    private static func milliseconds(_ text: String) throws(Flaw) -> Int {
        let number = text.prefix { $0.isNumber }
        let factor =
            switch text.dropFirst(number.count) {
            case "ms": 1
            case "s": 1000
            case "min": 60_000
            case "h": 3_600_000
            default: 0
            }
        guard let count = Int(number), factor > 0 else { throw Flaw(sentence: "“\(text)” is no time") }
        return count * factor
    }
}

extension StringProtocol {
    var trimmed: Substring {
        guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
            return ""
        }
        return Substring(self[first...last])
    }
}
