// Invariant: for any bytes of a SOCKS server, the handshake ends the same way whole and byte by byte. It consumes no
// more than has arrived, sends a password only if it was offered and asked for, and sends nothing that follows the
// reply.
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

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    for offersPassword in [false, true] {
        let whole = run(input, by: max(input.count, 1), offersPassword: offersPassword)
        precondition(run(input, by: 1, offersPassword: offersPassword) == whole, "the pieces matter")
        precondition(offersPassword || !whole.sent.contains("password"), "a password that was not offered")
        precondition(!whole.isOpen || whole.sent.suffix(2) == ["request", "open"], "open without a request")
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
