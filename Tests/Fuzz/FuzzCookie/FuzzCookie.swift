// Invariant: any Set-Cookie fields are taken within the limits and without a trap. The cookies sent back cannot end a
// line, go only to the cookie's path, have not expired, and contain no client cookie with the name of one of the
// session's. A stored cookie is the same cookie as itself.
import Bytes
import Model

@testable import Authentication

/// The first byte says when the cookies are asked for; each line is a field of one response.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let now: WallTime = 1_700_000_000_000
    let later = now + Milliseconds(1_000_000_000) * Int(first)
    let lines = input.dropFirst().split(separator: .lineFeed, omittingEmptySubsequences: false).map { Array($0) }
    for kind in [NetworkProtocol.http, .https] {
        var jar = CookieJar(origin: Origin(host: "www.host.test", port: 8080, protocol: kind))
        for line in lines { jar.take(line.span, at: "/a/b/c?d".utf8Span.span, now: now) }
        precondition(jar.cookies.count <= 50)
        precondition(jar.cookies.reduce(0) { $0 + $1.name.count + $1.value.count } <= 16 * 1024)
        for cookie in jar.cookies {
            precondition(cookie.path.first == .slash)
            precondition((cookie.endsAt ?? .distantFuture) > now, "a cookie that has ended was kept")
        }
        for target in targets { check(jar, target, later, lines.prefix(4)) }
    }
    return 0
}

private let targets = ["/", "/a/", "/a/b", "/a/bc?d", ""].map { Array($0.utf8) }

private func check(_ jar: CookieJar, _ target: [UInt8], _ now: WallTime, _ lines: some Sequence<[UInt8]>) {
    let sent = ByteBuffer(capacity: 256)
    precondition(jar.append(for: target.span, at: now, to: sent) == !sent.isEmpty)
    let bytes = sent.readable.array
    precondition(bytes.allSatisfy { $0 >= .space && $0 != .delete }, "a cookie ends its field")
    var expected: [UInt8] = []
    for cookie in jar.cookies where (cookie.endsAt ?? .distantFuture) > now && isInside(target, cookie.path) {
        if !expected.isEmpty { expected += [.semicolon, .space] }
        expected += cookie.name + [.equals] + cookie.value
    }
    precondition(bytes == expected, "other cookies than those of the path")
    for line in lines {
        let rest = ByteBuffer(capacity: 256)
        jar.append(client: line.span, besidesThoseFor: target.span, at: now, to: rest)
        precondition(rest.count <= 2 * line.count, "more than the client sent")
        var own = CookieJar(origin: Origin(host: "www.host.test", port: 8080, protocol: .https))
        own.take(line.span, at: target.span, now: now)
        precondition(own.isEmpty || CookieJar.isSame(line.span, as: line.span, at: target.span))
    }
}

/// RFC 6265 section 5.1.4.
private func isInside(_ target: [UInt8], _ prefix: [UInt8]) -> Bool {
    let path = target.prefix { $0 != .question }
    guard path.starts(with: prefix) else { return false }
    return path.count == prefix.count || prefix.last == .slash || path[prefix.count] == .slash
}
