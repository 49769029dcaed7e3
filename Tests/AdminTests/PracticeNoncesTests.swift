import Bytes
import Crypto
import Testing

@testable import Admin

@Suite struct PracticeNoncesTests {
    @Test func `a count is used once, also when it comes late`() {
        var window = CountWindow()
        let answers = [1, 2, 5, 4, 4, 3, 5, 1, 0].map { window.use($0) }
        #expect(answers == [true, true, true, true, false, true, false, false, false])
    }

    @Test func `a count too far behind may have been used before`() {
        var window = CountWindow()
        let answers = [1000, 1000 - 127, 1000 - 128, .max, .max, .max - 1].map { window.use($0) }
        #expect(answers == [true, true, false, true, false, true])
    }

    @Test func `a nonce is good for its lifetime`() throws {
        var nonces = PracticeNonces(lifetime: 60_000, code: try .withRandomKey())
        let nonce = Array(nonces.make(now: 1_000).utf8)
        #expect(use(&nonces, nonce, count: 1, now: 61_000))
        #expect(!use(&nonces, nonce, count: 2, now: 61_001))
        #expect(!use(&nonces, nonce, count: 3, now: 999))
    }

    @Test func `no two nonces of one moment are the same`() throws {
        var nonces = PracticeNonces(lifetime: 60_000, code: try .withRandomKey())
        let made = (0..<100).map { _ in nonces.make(now: 5) }
        #expect(Set(made).count == 100)
    }

    @Test func `a nonce that was changed, cut or made by another is not ours`() throws {
        var nonces = PracticeNonces(lifetime: 60_000, code: try .withRandomKey())
        var others = PracticeNonces(lifetime: 60_000, code: try .withRandomKey())
        let nonce = nonces.make(now: 0)
        for place in [0, 20, 63] {
            var changed = Array(nonce.utf8)
            changed[place] = changed[place] == 0x30 ? 0x31 : 0x30
            #expect(!use(&nonces, changed, count: 1, now: 0))
        }
        for text in ["", "00", String(nonce.dropLast(2)), nonce + "00", "not hexadecimal", others.make(now: 0)] {
            #expect(!use(&nonces, Array(text.utf8), count: 1, now: 0), "\(text)")
        }
        #expect(use(&nonces, Array(nonce.utf8), count: 1, now: 0))
    }

    @Test func `nonces beyond the limit are forgotten, and no count of them is good again`() throws {
        var nonces = PracticeNonces(lifetime: 60_000, code: try .withRandomKey())
        let made = (0...PracticeNonces.limit).map { _ in Array(nonces.make(now: 0).utf8) }
        let used = made.map { nonces.use($0, count: 1, now: 0) }
        #expect(used.dropLast().allSatisfy { $0 })
        #expect(used.last == false)
        #expect(!use(&nonces, made[0], count: 1, now: 0))
        #expect(!use(&nonces, made[1], count: 2, now: 0))
        let fresh = Array(nonces.make(now: 0).utf8)
        #expect(use(&nonces, fresh, count: 1, now: 0))
    }
}

/// `#expect` takes no mutating calls, but functions.
private func use(_ nonces: inout PracticeNonces, _ nonce: [UInt8], count: UInt32, now: UInt64) -> Bool {
    nonces.use(nonce, count: count, now: now)
}
