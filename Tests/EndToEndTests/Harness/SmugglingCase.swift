import TestSupport

/// A request of HTTP/2 by which a client could try to have two servers read different requests (RFC 9113 sections 8.2, 8.3
/// and 10.3, and the attacks of "HTTP/2: The Sequel is Always Worse").
struct SmugglingCase {
    enum Expectation: Equatable {
        /// A reset, or a 4xx, and nothing at the origin.
        case refused
        /// One request at the origin, with that body.
        case passes(body: String)
        /// A reset. Before it, the origin may have got one request without content, as the length says.
        case resetWithoutContent
    }

    let name: String
    var fields: FieldList
    var data: [String] = []
    var trailers: FieldList = []
    var expectation = Expectation.refused
    /// Whether HEADERS end the stream.
    var endsWithHead: Bool { data.isEmpty && trailers.isEmpty }

    /// The origin that the requests are for.
    struct Origin {
        let scheme: String
        let authority: String

        /// The fields of a request that is in order.
        func head(_ method: String = "GET", _ path: String = "/case") -> FieldList {
            [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path)]
        }
    }

    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: smuggled\r\n\r\n"

    static func all(of origin: Origin) -> [SmugglingCase] {
        pseudoFields(origin) + methods(origin) + paths(origin) + schemes(origin) + authorities(origin)
            + names(origin) + values(origin) + connectionFields(origin) + lengths(origin)
            + bodies(origin) + trailers(origin) + cookies(origin)
    }

    private static func replacing(_ name: String, by values: [String], in fields: FieldList) -> FieldList {
        fields.flatMap { field in field.0 == name ? values.map { (name, $0) } : [field] }
    }

    private static func refused(
        _ name: String, _ fields: FieldList, data: [String] = [], trailers: FieldList = []
    ) -> SmugglingCase {
        SmugglingCase(name: name, fields: fields, data: data, trailers: trailers)
    }

    private static func passing(
        _ name: String, _ fields: FieldList, data: [String] = [], trailers: FieldList = [], body: String = ""
    ) -> SmugglingCase {
        SmugglingCase(name: name, fields: fields, data: data, trailers: trailers, expectation: .passes(body: body))
    }

    private static func pseudoFields(_ origin: Origin) -> [SmugglingCase] {
        let head = origin.head()
        var cases: [SmugglingCase] = []
        for field in head {
            let without = replacing(field.0, by: [], in: head)
            cases.append(refused("\(field.0) twice", replacing(field.0, by: [field.1, field.1], in: head)))
            cases.append(refused("no \(field.0)", without))
            cases.append(refused("empty \(field.0)", replacing(field.0, by: [""], in: head)))
            cases.append(refused("\(field.0) behind a field", without + [("x", "y"), field]))
        }
        cases.append(refused("an unknown pseudo-field", head + [(":foo", "bar")]))
        cases.append(refused(":status", head + [(":status", "200")]))
        cases.append(refused(":protocol by GET", head + [(":protocol", "websocket")]))
        cases.append(refused("a colon alone", head + [(":", "x")]))
        cases.append(refused(":Method", [(":Method", "GET")] + head.dropFirst()))
        return cases
    }

    private static func methods(_ origin: Origin) -> [SmugglingCase] {
        let bad = [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", "GET /smuggled HTTP/1.1\r\nX: ", "GET /smuggled", "GET\r\n",
            "GET\n",
            "GET\0", "GET\t", " GET", "GET ", "G:T", "(GET)", "G\u{e9}T", "GET\u{0b}", "GET,POST",
        ]
        return bad.map { refused("method \($0.debugDescription)", origin.head($0)) }
            + [
                passing("a method in lower case", origin.head("get")),
                refused("CONNECT with a path", origin.head("CONNECT")),
            ]
    }

    private static func paths(_ origin: Origin) -> [SmugglingCase] {
        let bad = [
            "/ HTTP/1.1\r\nHost: a\r\n\r\n\(smuggled)", "/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX: ", "/\r\n",
            "/\n",
            "/\r", "/\0", "/ x", "/\t", "/\u{7f}", "/#f", "/x#", "case", "*", "?x", "http://evil.test/", "\\evil", " /",
            "/ ", "/\u{0b}",
        ]
        let good = ["//evil.test/", "/%0d%0a%20", "/a?b=http://evil.test/+HTTP", "/\u{e9}", "/../.."]
        return bad.map { refused("path \($0.debugDescription)", origin.head("GET", $0)) }
            + good.map { passing("path \($0)", origin.head("GET", $0)) }
    }

    private static func schemes(_ origin: Origin) -> [SmugglingCase] {
        let bad = [
            "HTTP", "http:", "http://evil.test/?", "http\r\n", "http ", " http", "http\0", "ws", "javascript",
            "http,https", "https://\(origin.authority)/smuggled?",
        ]
        return bad.map { refused("scheme \($0.debugDescription)", replacing(":scheme", by: [$0], in: origin.head())) }
    }

    private static func authorities(_ origin: Origin) -> [SmugglingCase] {
        let authority = origin.authority
        let bad = [
            "user@\(authority)", "user:password@\(authority)", "evil.test@\(authority)", "\(authority)/smuggled",
            "\(authority)?x", "\(authority)#x", "\(authority) ", " \(authority)", "\(authority)\r\nX: y",
            "\(authority)\n",
            "\(authority)\0", "\(authority)\\evil.test", "\(authority):1", "127.0.0.1:99999", "127.0.0.1:-1",
            "127.0.0.1:x", "[::1", "\(authority),evil.test", "\(authority)\t", "127.0.0.1:+1",
        ]
        let head = origin.head()
        let hosts: [[String]] = [
            ["evil.test"], ["127.0.0.1:1"], [authority, authority], [authority, "evil.test"], [""],
            ["\(authority)\r\nX: y"],
        ]
        return bad.map { refused("authority \($0.debugDescription)", replacing(":authority", by: [$0], in: head)) }
            + hosts.map { refused("host \($0)", head + $0.map { ("host", $0) }) }
            + [
                passing("the same host", head + [("host", authority)]),
                passing("host alone", replacing(":authority", by: [], in: head) + [("host", authority)]),
            ]
    }

    private static func names(_ origin: Origin) -> [SmugglingCase] {
        let bad = [
            "", "X-Upper", "Transfer-Encoding", "Content-Length", "transfer-encoding ", " transfer-encoding",
            "transfer-encoding:", "transfer-encoding\t", "transfer-encoding\r", "content-length:", "x y", "x\r\ny",
            "x\ny",
            "x\0y", "x:y", "x: y\r\ntransfer-encoding", "x\u{e9}", "x(y", "x\"y", "\u{0b}transfer-encoding",
            "x\r\n\r\nGET /smuggled HTTP/1.1\r\nhost", "x\u{7f}", "x=y;", "x@y", "host:",
        ]
        return bad.map { refused("name \($0.debugDescription)", origin.head() + [($0, "chunked")]) }
    }

    private static func values(_ origin: Origin) -> [SmugglingCase] {
        let bad = [
            "a\r\nTransfer-Encoding: chunked", "a\r\n\r\n\(smuggled)", "a\nb", "a\rb", "a\0b", " a", "a ", "\ta", "a\t",
            "a\u{1}", "a\u{7f}", "\r\n", "\n", "\r", "a\u{0b}b", "a\u{1b}[2J",
        ]
        let good = ["", "a\tb", "caf\u{e9}", "a: b", "a;b=\"c\""]
        return bad.map { refused("value \($0.debugDescription)", origin.head() + [("x", $0)]) }
            + good.map { passing("value \($0.debugDescription)", origin.head() + [("x", $0)]) }
    }

    private static func connectionFields(_ origin: Origin) -> [SmugglingCase] {
        let bad: FieldList = [
            ("transfer-encoding", "chunked"), ("transfer-encoding", "identity"), ("transfer-encoding", "\u{0b}chunked"),
            ("transfer-encoding", "xchunked"), ("transfer-encoding", ""), ("connection", "close"),
            ("connection", "transfer-encoding"), ("connection", "x-case"), ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"), ("upgrade", "h2c"), ("upgrade", "websocket"), ("te", "gzip"),
            ("te", "trailers, chunked"), ("te", "chunked"),
        ]
        var cases: [SmugglingCase] = []
        for field in bad {
            let post = origin.head("POST") + [field]
            cases.append(refused("\(field)", origin.head() + [field]))
            cases.append(refused("\(field) with a body", post, data: ["0\r\n\r\n\(smuggled)"]))
        }
        cases.append(passing("te: trailers", origin.head() + [("te", "trailers")]))
        cases.append(passing("http2-settings", origin.head() + [("http2-settings", "AAMAAABkAAQAAP__")]))
        return cases
    }

    private static func lengths(_ origin: Origin) -> [SmugglingCase] {
        let post = origin.head("POST")
        let bad = [
            "4", "6", "-1", "-5", "+5", "5, 5", "5,6", "5 5", " 5", "5 ", "0x5", "5.0", "", "5e0", "5\r\nX: y", "5;",
            "99999999999999999999", "18446744073709551621", "\u{665}",
        ]
        let hidden = [("hello", "0"), (smuggled, "0"), (smuggled, "00")]
        let two: [[String]] = [["5", "5"], ["5", "0"], ["0", "5"]]
        let size = "\(smuggled.utf8.count)"
        return bad.map { value in
            refused("length \(value.debugDescription) of 5", post + [("content-length", value)], data: ["hello"])
        }
            + hidden.map { text, length in
                SmugglingCase(
                    name: "length \(length) of \(text.debugDescription)", fields: post + [("content-length", length)],
                    data: [text], expectation: .resetWithoutContent)
            }
            + two.map { refused("lengths \($0)", post + $0.map { ("content-length", $0) }, data: ["hello"]) }
            + [
                refused("a length without content", post + [("content-length", "5")]),
                refused("a length without content, by GET", origin.head() + [("content-length", "5")]),
                passing("the right length", post + [("content-length", "5")], data: ["he", "", "llo"], body: "hello"),
                passing("the length 0", post + [("content-length", "0")]),
                passing(
                    "a request in the content", post + [("content-length", size)], data: [smuggled], body: smuggled),
            ]
    }

    private static func bodies(_ origin: Origin) -> [SmugglingCase] {
        let texts = [
            "0\r\n\r\n\(smuggled)", smuggled, "5\r\nhello\r\n0\r\n\r\n", "\r\n\r\n", "\0", "HTTP/1.1 200 OK\r\n\r\n",
        ]
        var cases: [SmugglingCase] = []
        for method in ["POST", "GET", "DELETE", "PUT"] {
            for text in texts {
                let name = "\(method) with \(text.debugDescription)"
                cases.append(passing(name, origin.head(method), data: [text], body: text))
            }
        }
        let post = origin.head("POST")
        cases.append(passing("pieces", post, data: ["", "0", "\r\n", "\r\n", ""], body: "0\r\n\r\n"))
        cases.append(passing("an empty body", post, data: [""]))
        cases.append(passing("HEAD with a body", origin.head("HEAD"), data: ["x"], body: "x"))
        cases.append(passing("an expectation", post + [("expect", "100-continue")], data: ["x"], body: "x"))
        return cases
    }

    private static func trailers(_ origin: Origin) -> [SmugglingCase] {
        let post = origin.head("POST")
        let bad: FieldList = [
            (":method", "GET"), (":path", "/smuggled"), ("transfer-encoding", "chunked"), ("connection", "close"),
            ("X-Upper", "y"), ("x", "a\r\nb"), ("x\r\ny", "a"), ("", "a"), ("x", "a\0b"), ("x y", "a"),
            ("host", "evil.test"), ("content-length", "9"), ("authorization", "Basic x"),
        ]
        return bad.map { refused("trailer \($0)", post, data: ["x"], trailers: [$0]) }
            + [passing("a trailer", post, data: ["x"], trailers: [("x-sum", "1")], body: "x")]
    }

    private static func cookies(_ origin: Origin) -> [SmugglingCase] {
        let head = origin.head()
        return [
            passing("crumbs", head + [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]),
            refused(
                "a crumb with a line end", head + [("cookie", "a"), ("cookie", "b\r\nTransfer-Encoding: chunked")]),
            refused("a crumb with a NUL", head + [("cookie", "a=1\0")]),
        ]
    }
}
