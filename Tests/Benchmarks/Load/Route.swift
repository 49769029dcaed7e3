import Bytes
import IO
import TestSupport

/// How a client reaches the origin.
enum Route {
    /// Absolute-form requests to the proxy on a port.
    case forward(proxy: UInt16)
    /// Like `forward`, with the field by which old proxies say that they keep the connection (RFC 9112 appendix C.2.2).
    case oldForward(proxy: UInt16)
    /// Like `forward`, with the fields of h2load and no others.
    case simpleForward(proxy: UInt16)
    /// CONNECT to the proxy on a port, then requests to the origin inside the tunnel.
    case tunnel(proxy: UInt16)
    /// Origin-form requests to a port that leads to the origin by itself.
    case relay(port: UInt16)
    /// TLS to the proxy on a port, and absolute-form requests inside.
    case secureForward(proxy: UInt16)
    /// CONNECT to the proxy on a port, TLS inside the tunnel, requests to the origin inside that.
    case intercepted(proxy: UInt16)

    var port: UInt16 {
        switch self {
        case .forward(let port), .oldForward(let port), .simpleForward(let port), .tunnel(let port), .relay(let port),
            .secureForward(let port), .intercepted(let port):
            port
        }
    }

    var opensTunnel: Bool {
        switch self {
        case .tunnel, .intercepted: true
        case .forward, .oldForward, .simpleForward, .relay, .secureForward: false
        }
    }

    var isSecure: Bool {
        switch self {
        case .secureForward, .intercepted: true
        case .forward, .oldForward, .simpleForward, .relay, .tunnel: false
        }
    }

    /// The head of a GET. A browser's has about 430 bytes.
    func request(_ path: String, origin: UInt16) -> [UInt8] {
        let authority = "127.0.0.1:\(origin)"
        let target =
            switch self {
            case .forward, .oldForward, .simpleForward, .secureForward: "http://\(authority)\(path)"
            case .tunnel, .relay, .intercepted: path
            }
        var lines = [
            "GET \(target) HTTP/1.1",
            "Host: \(authority)",
        ]
        if case .simpleForward = self {
            lines.append("User-Agent: h2load nghttp2/1.52.0")
        } else {
            lines += Self.fields(authority).map { "\($0): \($1)" }
            lines.append("Connection: keep-alive")
        }
        if case .oldForward = self { lines.append("Proxy-Connection: keep-alive") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// The fields of a browser's GET, but for those of the connection.
    private static func fields(_ authority: String) -> FieldList {
        [
            ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
            ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
            ("Accept-Language", "en-US,en;q=0.5"),
            ("Accept-Encoding", "identity"),
            ("Referer", "http://\(authority)/index.html"),
            ("Cookie", "session=4f1c2b7a9d3e; theme=dark"),
        ]
    }

    /// The head of the same GET on a stream of HTTP/2.
    static func streamHead(_ path: String, origin: UInt16) -> FieldList {
        let authority = "127.0.0.1:\(origin)"
        let target = [(":method", "GET"), (":scheme", "http"), (":authority", authority), (":path", path)]
        return target + fields(authority).map { ($0.lowercased(), $1) }
    }

    static func connectRequest(origin: UInt16) -> [UInt8] {
        Array("CONNECT 127.0.0.1:\(origin) HTTP/1.1\r\nHost: 127.0.0.1:\(origin)\r\n\r\n".utf8)
    }
}

extension SocketAddress {
    static func loopback(_ port: UInt16) -> SocketAddress {
        SocketAddress(.init(v4: 0x7F00_0001), port: port)
    }
}
