import Bytes
import Testing

struct ExactTextTests {
    @Test(arguments: [
        ("a", "a", true), ("a", "b", false), ("a", "A", false), ("", "", true), ("", "a", false), ("a", "ab", false),
        ("\u{E9}", "e\u{301}", false), ("e\u{301}", "e\u{301}", true), ("\u{212B}", "\u{C5}", false),
        ("a text that is longer than a small string", "a text that is longer than a small string", true),
    ])
    func `texts are equal if their bytes are`(left: String, right: String, areEqual: Bool) {
        #expect((ExactText(left) == ExactText(right)) == areEqual)
        #expect(left.hasSameBytes(as: right) == areEqual)
        #expect(Set([ExactText(left), ExactText(right)]).count == (areEqual ? 1 : 2))
    }

    @Test func `texts are ordered by their bytes`() {
        let texts: [ExactText] = ["z", "\u{E9}", "e\u{301}", ""]
        #expect(texts.sorted().map { Array($0.text.utf8) } == ["", "e\u{301}", "z", "\u{E9}"].map { Array($0.utf8) })
    }
}
