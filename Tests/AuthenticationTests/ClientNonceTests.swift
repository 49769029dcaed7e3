import Bytes
import Crypto
import Testing

@testable import Authentication

@Suite struct ClientNonceTests {
    private static let start: WallTime = 1_800_000_000_000
    private static let lifetime = DigestNonces.usualLifetime

    private func nonces(_ key: String = "a key") throws -> DigestNonces { try DigestNonces(key: Secret(key)) }

    private func use(_ nonce: String, _ count: UInt32, of nonces: DigestNonces, after time: Milliseconds = 0) -> Bool {
        nonces.use(nonce.utf8Span.span, count: count, at: Self.start + time)
    }

    @Test func `each count of a nonce is good once, in any order`() throws {
        let nonces = try nonces()
        let nonce = try nonces.make(at: Self.start)
        for count: UInt32 in [1, 3, 2, 7, 5, 4, 6] { #expect(use(nonce, count, of: nonces), "\(count)") }
        for count: UInt32 in 1...7 { #expect(!use(nonce, count, of: nonces), "\(count)") }
        #expect(use(nonce, 8, of: nonces))
        let other = try nonces.make(at: Self.start)
        #expect(other != nonce)
        #expect(use(other, 1, of: nonces))
    }

    @Test func `a nonce lives for its time, as the clock of whoever made it has it`() throws {
        let nonces = try nonces()
        let nonce = try nonces.make(at: Self.start)
        #expect(use(nonce, 1, of: nonces, after: Self.lifetime))
        #expect(!use(nonce, 2, of: nonces, after: Self.lifetime + 1))
        #expect(use(nonce, 3, of: nonces, after: 0 - Self.lifetime))
        #expect(!use(nonce, 4, of: nonces, after: 0 - Self.lifetime - 1))
    }

    @Test func `in its last minute a nonce should give way to the next`() throws {
        let nonces = try nonces()
        let nonce = try nonces.make(at: Self.start)
        let isLate = { (time: Milliseconds) in nonces.isLate(nonce.utf8Span.span, at: Self.start + time) }
        #expect(!isLate(0))
        #expect(!isLate(Self.lifetime - 60_000))
        #expect(isLate(Self.lifetime - 59_999))
        #expect(!isLate(0 - Self.lifetime))
    }

    @Test func `a process with the key takes the nonces of another, and no other does`() throws {
        let nonce = try nonces().make(at: Self.start)
        #expect(use(nonce, 1, of: try nonces()))
        #expect(!use(nonce, 1, of: try nonces("another key")))
        #expect(!use(nonce, 1, of: try DigestNonces(key: nil)))
        let changed = try nonces()
        changed.replaceKey(with: Secret("another key"))
        #expect(!use(nonce, 1, of: changed))
        #expect(use(try changed.make(at: Self.start), 1, of: try nonces("another key")))
    }

    @Test func `a nonce that was changed in any place is none of ours`() throws {
        let nonces = try nonces()
        let nonce = Array(try nonces.make(at: Self.start).utf8)
        #expect(nonce.count == 64)
        for place in nonce.indices {
            var other = nonce
            other[place] = other[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            let isTaken = nonces.use(other.span, count: 1, at: Self.start)
            #expect(!isTaken, "\(place)")
        }
        for text in ["", "0", String(repeating: "0", count: 64), String(repeating: "g", count: 64)] {
            #expect(!use(text, 1, of: nonces))
        }
        #expect(!use(String(decoding: nonce + nonce, as: UTF8.self), 1, of: nonces))
    }

    @Test func `a window takes what is not too far behind`() {
        var window = DigestNonces.Window(200)
        func use(_ count: UInt32) -> Bool { window.use(count) }
        #expect(use(200 - DigestNonces.Window.width + 1))
        #expect(!use(200 - DigestNonces.Window.width))
        #expect(use(100))
        #expect(!use(100))
        #expect(use(.max))
        #expect(!use(200))
        #expect(!use(.max))
        #expect(use(.max - DigestNonces.Window.width + 1))
        #expect(window.highest == .max)
    }

    /// No sequence of counts has one accepted twice, or one above the highest refused.
    @Test func `a window agrees with a set of all counts`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var highest = UInt32.random(in: 1...50, using: &generator)
            var window = DigestNonces.Window(highest)
            var seen: Set<UInt32> = [highest]
            for _ in 0..<300 {
                let low = highest > 140 ? highest - 140 : 1
                let count = UInt32.random(in: low...highest + 20, using: &generator)
                let isFresh = !seen.contains(count) && count + DigestNonces.Window.width > highest
                let isTaken = window.use(count)
                #expect(isTaken == isFresh, "\(count) after \(highest)")
                if isFresh { seen.insert(count) }
                highest = max(highest, count)
            }
        }
    }

    @Test func `a full table forgets the oldest, and takes nothing of its age again`() {
        var table = DigestNonces.Table(capacity: 3)
        func use(_ nonce: DigestNonces.Nonce, count: UInt32) -> Bool { table.use(nonce, count: count) }
        let nonces = (1...5).map { DigestNonces.Nonce(time: UInt64($0), number: UInt64($0)) }
        for nonce in nonces[..<3] { #expect(use(nonce, count: 1)) }
        #expect(use(nonces[3], count: 1))
        #expect(table.count == 3)
        #expect(!use(nonces[0], count: 2), "it is forgotten, and so is what it was used for")
        #expect(!use(DigestNonces.Nonce(time: 1, number: 9), count: 1), "nobody knows whether it was used")
        #expect(use(nonces[1], count: 2))
        #expect(!use(nonces[1], count: 2))
        #expect(use(nonces[4], count: 1))
        #expect(!use(nonces[1], count: 3))
        #expect(use(nonces[2], count: 2))
        #expect(table.count == 3)
    }

    @Test func `nonces that come late push nothing out twice`() {
        var table = DigestNonces.Table(capacity: 2)
        func use(_ nonce: DigestNonces.Nonce, count: UInt32) -> Bool { table.use(nonce, count: count) }
        let (late, early) = (DigestNonces.Nonce(time: 9, number: 1), DigestNonces.Nonce(time: 2, number: 2))
        #expect(use(late, count: 1))
        #expect(use(early, count: 1))
        #expect(use(DigestNonces.Nonce(time: 10, number: 3), count: 1))
        #expect(use(early, count: 2), "it is in the table, whatever its age")
        #expect(!use(DigestNonces.Nonce(time: 9, number: 4), count: 1))
        #expect(!use(late, count: 2))
    }
}
