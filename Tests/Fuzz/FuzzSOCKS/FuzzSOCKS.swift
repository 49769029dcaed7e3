// Invariant: for any bytes of a SOCKS server, the handshake ends the same way whole and byte by byte. It consumes no
// more than has arrived, sends a password only if it was offered and asked for, and sends nothing that follows the
// reply. For any bytes of a SOCKS client, the negotiation ends the same way whole and byte by byte, needs no more than the
// longest message, and what it makes a request of has no byte that a request's head would end with.
import Bytes

@testable import Upstream

private struct Outcome: Equatable {
    var sent: [String] = []
    var consumed = 0
    var isOpen = false
    var error: SOCKSError?
}

/// Shows the bytes in pieces of `size`, what was not consumed again.
private func run(_ bytes: [UInt8], by size: Int, offersPassword: Bool) -> Outcome {
    var handshake = SOCKS5Handshake.awaitingMethod(offersPassword: offersPassword)
    var outcome = Outcome()
    var shown = 0
    do throws(SOCKSError) {
        while !outcome.isOpen {
            let piece = bytes.span.extracting(outcome.consumed..<shown)
            switch try handshake.receive(piece) {
            case .needsMore:
                if shown == bytes.count { return outcome }
                shown = min(shown + size, bytes.count)
            case .password(let consumed): outcome.take("password", consumed, of: piece.count)
            case .request(let consumed): outcome.take("request", consumed, of: piece.count)
            case .open(let consumed):
                outcome.take("open", consumed, of: piece.count)
                outcome.isOpen = true
            }
        }
    } catch { outcome.error = error }
    return outcome
}

extension Outcome {
    fileprivate mutating func take(_ word: String, _ count: Int, of available: Int) {
        precondition(count > 0 && count <= available, "more was consumed than has come")
        consumed += count
        sent.append(word)
    }
}

/// The steps of the negotiation with a client, and the target that it asked for.
private func negotiate(_ bytes: [UInt8], by size: Int, _ login: SOCKSNegotiation.Login) -> [String] {
    var negotiation = SOCKSNegotiation.begun(login)
    var (steps, start, shown) = ([String](), 0, 0)
    while true {
        let piece = bytes.span.extracting(start..<shown)
        switch negotiation.receive(piece) {
        case .needsMore:
            precondition(
                piece.count <= SOCKSNegotiation.longestMessage || negotiation == .over, "a message without end")
            if shown == bytes.count { return steps }
            shown = min(shown + size, bytes.count, start + SOCKSNegotiation.longestMessage + 1)
        case .reply(let reply, let count):
            precondition(count > 0 && count <= piece.count, "more was consumed than has come")
            steps.append("\(reply)")
            start += count
        case .password(let user, let password, let count):
            precondition(
                login == .password && user.upperBound < password.lowerBound, "a password that was not asked for")
            precondition(password.upperBound == count && count <= piece.count, "more was consumed than has come")
            steps.append("password \(user.count) \(password.count) \(negotiation.accept())")
            start += count
        case .connect(let target, let count):
            precondition(count > 0 && count <= piece.count, "more was consumed than has come")
            precondition(login == .none || steps.contains { $0.hasPrefix("password") }, "a client without a login")
            let isClean = target.authority.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
            precondition(isClean, "a target that could end the request's line")
            return steps + [target.authority]
        case .refused(let reply, let refusal): return steps + ["\(reply) \(refusal)"]
        }
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    for offersPassword in [false, true] {
        let whole = run(input, by: max(input.count, 1), offersPassword: offersPassword)
        precondition(run(input, by: 1, offersPassword: offersPassword) == whole, "the pieces matter")
        precondition(offersPassword || !whole.sent.contains("password"), "a password that was not offered")
        precondition(!whole.isOpen || whole.sent.suffix(2) == ["request", "open"], "open without a request")
    }
    for login in [SOCKSNegotiation.Login.none, .password, .other] {
        precondition(
            negotiate(input, by: 1, login) == negotiate(input, by: max(input.count, 1), login), "the pieces matter")
    }
    for end in 0...min(input.count, 16) {
        let reply = Result { () throws(SOCKSError) in try SOCKS4Request.reply(input.span.extracting(first: end)) }
        if case .success(let length?) = reply { precondition(length <= end && length == 8) }
    }
    let host = String(decoding: input, as: UTF8.self)
    if let request = try? SOCKS5Handshake.request(host: host, port: 80) {
        precondition(request.count <= 4 + 1 + 255 + 2)
    }
    if let request = try? SOCKS4Request.bytes(host: host, port: 80) {
        precondition(request.count <= 8 + 1 + 255 + 1 && request.last == 0)
        precondition(request.dropFirst(8).count { $0 == 0 } <= 2, "a name that ends early")
    }
    return 0
}
