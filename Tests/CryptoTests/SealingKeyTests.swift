import Bytes
import Testing

@testable import Crypto

@Suite struct SealingKeyTests {
    private let context = Array("host user".utf8)

    private func key(_ byte: UInt8) throws -> SealingKey {
        var bytes = [UInt8](repeating: byte, count: 32)
        return try #require(SealingKey(Secret(wiping: &bytes)))
    }

    private func seal(_ text: String, with key: SealingKey) throws -> [UInt8] {
        try key.seal(Secret(text), for: context.span)
    }

    private func open(_ box: [UInt8], with key: SealingKey, for context: [UInt8]? = nil) throws -> [UInt8] {
        let context = context ?? self.context
        return try key.open(box.span, for: context.span).withBytes { $0.array }
    }

    @Test(arguments: ["", "p", "pässwörd", String(repeating: "long ", count: 10_000)])
    func `a box opens with the same key and context`(text: String) throws {
        let key = try key(7)
        let box = try seal(text, with: key)
        #expect(box.count == text.utf8.count + SealingKey.overhead)
        #expect(try open(box, with: key) == Array(text.utf8))
        #expect(text.isEmpty || Array(box.dropFirst(13).dropLast(16)) != Array(text.utf8))
    }

    @Test func `the same secret is sealed differently each time`() throws {
        let key = try key(7)
        #expect(try seal("p", with: key) != seal("p", with: key))
    }

    @Test func `another key or another context opens nothing`() throws {
        let box = try seal("password", with: key(7))
        #expect(throws: CryptoError.notOurs) { try open(box, with: key(7), for: Array("host eve".utf8)) }
        #expect(throws: CryptoError.notOurs) { try open(box, with: key(7), for: []) }
        #expect(throws: CryptoError.notOurs) { try open(box, with: key(8)) }
    }

    @Test func `a box that was changed or cut anywhere does not open`() throws {
        let key = try key(7)
        let box = try seal("password", with: key)
        for place in box.indices {
            var changed = box
            changed[place] ^= 1
            #expect(throws: CryptoError.notOurs) { try open(changed, with: key) }
            #expect(throws: CryptoError.notOurs) { try open(Array(box[..<place]), with: key) }
        }
    }

    /// Test case 15 of "The Galois/Counter Mode of Operation (GCM)" by McGrew and Viega: 256-bit key, no associated data.
    @Test func `a published box opens`() throws {
        var bytes = try #require(Hex.decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let key = try #require(SealingKey(Secret(wiping: &bytes)))
        let nonce = try #require(Hex.decode("cafebabefacedbaddecaf888"))
        let cipher = try #require(
            Hex.decode(
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"))
        let tag = try #require(Hex.decode("b094dac5d93471bdec1a502270e3cc6c"))
        let plain = try #require(
            Hex.decode(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"))
        #expect(try open([1] + nonce + cipher + tag, with: key, for: []) == plain)
    }

    @Test func `keys are told apart by an id that says nothing of them`() throws {
        #expect(try key(7).id == key(7).id)
        #expect(try key(7).id != key(8).id)
        #expect(try key(7).id.count == 16)
        #expect(SealingKey(Secret("too short")) == nil)
    }
}
