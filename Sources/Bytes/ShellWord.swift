/// A word for a command line of a POSIX shell.
public enum ShellWord {
    /// Quotes the text if necessary.
    public static func quoted(_ text: String) -> String {
        let plain: (UInt8) -> Bool = { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:,@%+".utf8.contains(byte)
            }
        }
        if !text.isEmpty, text.utf8.allSatisfy(plain) { return text }
        return always(text)
    }

    /// Quotes the text always.
    public static func always(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
