import Bytes

/// The answers of the origin, made once.
struct OriginContent: Sendable {
    /// The sizes between the small and the large.
    enum Size: Int, CaseIterable, CustomStringConvertible {
        case k16 = 16
        case k64 = 64
        case k128 = 128
        case k256 = 256
        case k512 = 512
        case m1 = 1024

        var bytes: Int { rawValue << 10 }
        var words: String { self == .m1 ? "1 MiB" : "\(rawValue) KiB" }
        /// The name in figures.
        var description: String { self == .m1 ? "1m" : "\(rawValue)k" }
        var path: String { "/body-\(self)" }
    }

    static let smallSize = 1024
    static let largeSize = 100 << 20

    let small = whole(length: smallSize)
    /// The answers by the path that asks for them.
    private let sized = Dictionary(
        uniqueKeysWithValues: Size.allCases.map { (Array($0.path.utf8), whole(length: $0.bytes)) })
    let medium = whole(length: Size.k64.bytes)
    let largeHead = head(length: largeSize)
    /// A piece of the large body, which is a whole number of them.
    let largePiece = [UInt8](repeating: 0x62, count: 1 << 20)
    let basicChallenge = Array(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"bench\"\r\nContent-Length: 0\r\n\r\n".utf8)
    let basicAuthorization = Array(
        "Basic \(Base64.encode(Array("\(DigestGuard.user):\(DigestGuard.password)".utf8)))".utf8)
    /// The answer to `/token`. The token is valid for a day.
    let token = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(tokenDocument.utf8.count)\r\n\r\n\(tokenDocument)"
            .utf8)
    let bearerChallenge = Array(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"bench\"\r\nContent-Length: 0\r\n\r\n".utf8)
    let bearerAuthorization = Array("Bearer \(tokenValue)".utf8)
    let missing = Array("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".utf8)

    /// A token as long as those of identity providers.
    private static let tokenValue = String(repeating: "token-of-the-bench.", count: 42)
    private static let tokenDocument = #"{"access_token":"\#(tokenValue)","token_type":"Bearer","expires_in":86400}"#

    /// The answer to that path; nil where it names no size.
    func body(at path: Span<UInt8>) -> [UInt8]? { sized[path.array] }

    /// The challenge of the space with that number.
    func challenge(of space: Span<UInt8>) -> [UInt8] {
        Array("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"".utf8) + space.array
            + Array("\"\r\nContent-Length: 0\r\n\r\n".utf8)
    }

    private static func whole(length: Int) -> [UInt8] {
        head(length: length) + [UInt8](repeating: 0x61, count: length)
    }

    private static func head(length: Int) -> [UInt8] {
        let lines = [
            "HTTP/1.1 200 OK",
            "Server: bench",
            "Date: Tue, 15 Nov 1994 08:12:31 GMT",
            "Content-Type: application/octet-stream",
            "Content-Length: \(length)",
            "Last-Modified: Tue, 15 Nov 1994 08:12:31 GMT",
            "Connection: keep-alive",
            "ETag: \"bench-\(length)\"",
            "Accept-Ranges: bytes",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
