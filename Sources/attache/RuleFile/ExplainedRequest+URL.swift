import Authentication
import Bytes
import HTTP
import Model
import Rules

extension ExplainedRequest {
    static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]

    /// Creates the request as a client would send it to the proxy, with the proxy's own parser.
    init(method: String, url: String, client: ClientIdentity) throws(ExplanationError) {
        // The parser gets a whole line: neither part may bring its own spaces or line ends into it.
        for (what, text) in [("method", method), ("URL", url)] {
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
                throw ExplanationError("the \(what) has a character that is not allowed in a request")
            }
        }
        if !Self.methods.contains(method), Self.methods.contains(method.uppercased()) {
            throw ExplanationError("methods are case-sensitive; did you mean '\(method.uppercased())'?")
        }
        if method == "CONNECT", url.contains("/") {
            throw ExplanationError("for CONNECT write only host and port, such as www.example.com:443")
        }
        if method != "CONNECT", !url.contains("://") { throw Self.isNoWholeURL(url) }
        let buffer = ByteBuffer(capacity: url.utf8.count + 64)
        buffer.append("\(method) \(url) HTTP/1.0\r\n\r\n")
        let head = RequestHead()
        do throws(HTTPError) {
            _ = try head.parse(buffer)
        } catch {
            throw ExplanationError("'\(method) \(Self.withoutUser(url))' is not a request: \(error.defect)")
        }
        let bytes = buffer.readable.array
        guard let authority = head.target.authority else {
            throw Self.isNoWholeURL(url)
        }
        let space: NetworkProtocol
        switch head.target.scheme {
        case .http, nil: space = .http
        case .https: space = .https
        case .ftp: space = .ftp
        case .other: throw ExplanationError("only http, https and ftp URLs can be explained")
        }
        let port = authority.explicitPort ?? head.target.scheme?.defaultPort ?? 80
        var user: String?
        if let userinfo = head.target.userinfo {
            let end = bytes.span.firstIndex(of: .colon, in: userinfo) ?? userinfo.upperBound
            user = PercentEncoding.decode(bytes.span.extracting(userinfo.lowerBound..<end)).map { $0.span.text }
        }
        self.init(
            method: method, url: Self.withoutUser(bytes.span.extracting(head.target.text).text),
            host: HostSpelling.canonical(bytes.span.extracting(authority.host).text), port: port, protocol: space,
            client: client)
        urlUser = user
        let path = bytes.span.extracting(head.target.path).text
        target = path.isEmpty ? "/" : path
    }

    /// The server of the request.
    var origin: Origin { Origin(host: host, port: port, protocol: `protocol`) }

    private static func isNoWholeURL(_ url: String) -> ExplanationError {
        ExplanationError("'\(Console.printable(url))' is not a complete URL: write http://HOST/PATH")
    }

    /// Returns the URL without user and password, which must not appear on the terminal.
    private static func withoutUser(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        guard let at = url[start..<end].lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: at)...])
    }
}

extension ClientIdentity {
    /// Parses `ADDRESS`, `USER`, `USER@ADDRESS` or `NAME@unix`. A user without an address is on this machine.
    init(explained text: String) throws(ExplanationError) {
        let at = text.lastIndex(of: "@")
        let place = at.map { text[text.index(after: $0)...] } ?? text[...]
        let user = at.map { String(text[..<$0]) }
        if let user, !user.isEmpty, place == Self.local {
            self.init(address: nil, user: user)
        } else if let address = IPAddress(place), user != "" {
            self.init(address: address, user: user)
        } else if place.utf8.allSatisfy({ $0.isDigit || $0 == .colon || $0 == UInt8(ascii: ".") }) {
            // It resembles an address too much to be a name, or is empty.
            throw ExplanationError("the client '\(Console.printable(text))' is neither ADDRESS, USER nor USER@ADDRESS")
        } else {
            self.init(address: IPAddress(v4: 0x7F00_0001), user: text)
        }
    }
}

extension Origin {
    /// The server of a URL; its path is ignored.
    init(url: String, isProxy: Bool) throws(ExplanationError) {
        guard let start = url.firstRange(of: "://")?.upperBound else {
            throw ExplanationError("'\(Console.printable(url))' is not a complete URL, such as http://www.example.com/")
        }
        if url[start...].prefix(while: { $0 != "/" && $0 != "?" }).contains("@") {
            throw ExplanationError("the URL has a user in it: write USER after the URL; the password is asked for")
        }
        if url[..<start].lowercased() == "socks5://" {
            self = try Self.socks(url[start...])
            return
        }
        let request = try ExplainedRequest(
            method: "GET", url: url, client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil))
        self.init(host: request.host, port: request.port, protocol: request.protocol, isProxy: isProxy)
    }

    /// The server of a URL, or each port of its host if the port is `*`.
    init(urlOrAnyPort url: String, isProxy: Bool) throws(ExplanationError) {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        guard url[start..<end].hasSuffix(":*") else {
            try self.init(url: url, isProxy: isProxy)
            return
        }
        let origin = try Origin(url: String(url[..<end].dropLast(2)) + String(url[end...]), isProxy: isProxy)
        if isProxy || origin.protocol == .socks {
            throw ExplanationError("'\(Console.printable(url))' names a parent: write its port instead of '*'")
        }
        self = origin.onAnyPort
    }

    /// Returns a parent that speaks SOCKS, which no request names.
    private static func socks(_ place: Substring) throws(ExplanationError) -> Origin {
        let authority = place.prefix { $0 != "/" && $0 != "?" }
        let hasPort = authority.last != "]" && authority.contains(":")
        let parsed = try Origin(url: "http://\(authority)\(hasPort ? "" : ":1080")/", isProxy: true)
        return Origin(host: parsed.host, port: parsed.port, protocol: .socks, isProxy: true)
    }
}

extension Arguments {
    /// The server of a URL among the arguments.
    func origin(of url: String) throws(CommandError) -> Origin {
        do throws(ExplanationError) { return try Origin(url: url, isProxy: false) } catch {
            throw self.error(error.sentence)
        }
    }
}

/// The reason why a request cannot be explained: no client could send it.
struct ExplanationError: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}
