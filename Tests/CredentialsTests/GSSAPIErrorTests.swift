import Testing

@testable import GSSAPI

struct GSSAPIErrorTests {
    @Test(arguments: [
        ("Clock skew too great.", "clock skew too great"), ("KDC has no support", "KDC has no support"),
        ("No more. \n", "no more"), ("", ""), ("A", "a"),
        (
            "KDC returned error string: x\r\nattache: all is well\u{1B}[2J",
            "KDC returned error string: x  attache: all is well [2J"
        ),
    ])
    func `a library's words are the end of a sentence, and of one line`(message: String, sentence: String) {
        #expect(GSSAPIError.sentence(message) == sentence)
    }

    @Test func `they have an end`() {
        #expect(GSSAPIError.sentence(String(repeating: "x", count: 5000)).count == 300)
    }
}
