import Crypto
import Testing

@Suite struct SecretTests {
    @Test func `a secret shows in no description and no dump`() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("storage"))
        }
    }

    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "ab", false), ("pässword", "pässword", true),
    ])
    func `secrets are equal when their bytes are`(left: String, right: String, equal: Bool) {
        #expect((Secret(left) == Secret(right)) == equal)
    }

    @Test func `taking bytes over empties the array they came in`() {
        var bytes = Array("hunter2".utf8)
        let secret = Secret(wiping: &bytes)
        #expect(bytes.isEmpty)
        #expect(secret == Secret("hunter2"))
        #expect(secret.count == 7)
    }
}
