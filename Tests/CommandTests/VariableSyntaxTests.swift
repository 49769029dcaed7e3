import Testing

@testable import attache

/// A value that could end its own quotes, or its line, stays one value.
struct VariableSyntaxTests {
    @Test(arguments: [
        (ToolVariables.Syntax.powershell, "a'b\u{2018}c\u{2019}d\u{201A}e\u{201B}f", "$env:X = 'a''b‘‘c’’d‚‚e‛‛f'"),
        (.powershell, "a\nb", "$env:X = 'a\nb'"), (.fish, "a'\\b", "set -gx X 'a\\'\\\\b'"),
        (.systemd, "a\nb\r\"%\\", "[Service]\nEnvironment=\"X=a\\nb\\r\\\"%%\\\\\""),
        (.sh, "a\n'b", "export X='a\n'\\''b'"),
    ])
    func `a value stays within its quotes`(syntax: ToolVariables.Syntax, value: String, expected: String) {
        #expect(syntax.text([("X", value)], files: nil) == expected)
    }

    @Test func `a file for Docker has no line of a value's own`() {
        let text = ToolVariables.Syntax.docker.text(
            [("A", "a\nLD_PRELOAD=/tmp/x"), ("B", "b")], files: nil)
        let set = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(set == ["B=b"])
        #expect(text.contains("# A is left out"))
    }
}
