import Bytes
import Model
import Testing

@testable import Upstream

struct SOCKSNegotiationTests {
    private struct Outcome: Equatable {
        var sent: [UInt8] = []
        var target: String?
        var refusal: SOCKSRefusal?
        var login: [String] = []
        var rest: [UInt8] = []
    }

    /// Hands in the bytes in pieces of `size`.
    private func run(_ bytes: [UInt8], by size: Int, _ login: SOCKSNegotiation.Login) -> Outcome {
        var negotiation = SOCKSNegotiation.begun(login)
        var outcome = Outcome()
        var (start, shown) = (0, 0)
        while true {
            switch negotiation.receive(bytes.span.extracting(start..<shown)) {
            case .needsMore:
                if shown == bytes.count || outcome.refusal != nil { break }
                shown = min(shown + size, bytes.count)
                continue
            case .reply(let reply, let count):
                outcome.sent += reply
                start += count
                continue
            case .password(let user, let password, let count):
                let piece = bytes[start..<shown]
                outcome.login = [user, password].map { range in
                    String(decoding: piece.dropFirst(range.lowerBound).prefix(range.count), as: UTF8.self)
                }
                outcome.sent += negotiation.accept()
                start += count
                continue
            case .connect(let target, let count):
                outcome.target = "\(target.version.token) \(target.authority)"
                outcome.rest = Array(bytes[(start + count)...])
                // The bytes behind the request may have come with it, or later.
                return outcome
            case .refused(let reply, let refusal):
                outcome.sent += reply
                outcome.refusal = refusal
            }
            return outcome
        }
    }

    private func both(_ bytes: [UInt8], _ login: SOCKSNegotiation.Login = .none) -> Outcome {
        let whole = run(bytes, by: bytes.count, login)
        #expect(run(bytes, by: 1, login) == whole)
        return whole
    }

    private static let name: [UInt8] = Array("\u{1}\u{0}\u{3}\u{6}a.test".utf8)

    @Test func `each form of a host becomes the target of a CONNECT`() {
        #expect(both([5, 1, 0, 5] + Self.name + [1, 187, 9]).target == "5 a.test:443")
        #expect(both([5, 1, 0, 5] + Self.name + [1, 187, 9]).rest == [9])
        #expect(both([5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 7, 0, 80]).target == "5 10.0.0.7:80")
        let six: [UInt8] = [0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [5]
        #expect(both([5, 1, 0, 5, 1, 0, 4] + six + [0, 80]).target == "5 [2001:db8::5]:80")
        #expect(both([5, 1, 0, 5, 1, 0, 3, 11] + Array("2001:db8::5".utf8) + [0, 80]).target == "5 [2001:db8::5]:80")
        #expect(both([4, 1, 0, 80, 10, 0, 0, 7] + Array("me\u{0}".utf8)).target == "4 10.0.0.7:80")
        #expect(both([4, 1, 0, 80, 0, 0, 0, 9] + Array("\u{0}a.test\u{0}".utf8)).target == "4a a.test:80")
        #expect(both([4, 1, 0, 80, 0, 0, 0, 0, 0]).target == "4 0.0.0.0:80")
    }

    @Test func `a password is handed out to be checked, or accepted where nobody must log in`() {
        let login: [UInt8] = [5, 2, 0, 2, 1, 3] + Array("bob".utf8) + [2] + Array("pw".utf8)
        let checked = both(login + [5] + Self.name + [1, 187], .password)
        #expect(checked.login == ["bob", "pw"] && checked.target == "5 a.test:443")
        #expect(checked.sent == [5, 2, 1, 0])
        let ignored = both([5, 1, 2] + login.dropFirst(4) + [5] + Self.name + [1, 187])
        #expect(ignored.login.isEmpty && ignored.target == "5 a.test:443" && ignored.sent == [5, 2, 1, 0])
    }

    @Test(arguments: ["a\r\nb", "a b", "a:1", "a/b", "u@a", "a%41", "a#", "[a]", "\u{7F}", "é"])
    func `a name that is none goes into no request`(name: String) {
        let bytes = Array(name.utf8)
        let refused = both([5, 1, 0, 5, 1, 0, 3, UInt8(bytes.count)] + bytes + [1, 187])
        #expect(refused.refusal == .unusableName && refused.target == nil)
        #expect(both([4, 1, 0, 80, 0, 0, 0, 9, 0] + bytes + [0]).refusal == .unusableName)
    }

    @Test func `texts of SOCKS 4 without an end are refused, and no message is longer than the limit`() {
        let long = [UInt8](repeating: 0x61, count: 256)
        #expect(both([4, 1, 0, 80, 10, 0, 0, 7] + long).refusal == .malformed)
        #expect(both([4, 1, 0, 80, 0, 0, 0, 9, 0] + long).refusal == .malformed)
        let longest = [4, 1, 0, 80, 0, 0, 0, 9] + long.dropLast() + [0] + long.dropLast() + [0]
        #expect(longest.count == SOCKSNegotiation.longestMessage && both(longest).target != nil)
    }
}
