import IO

/// A word for a command line of a POSIX shell.
enum ShellWord {
    /// In quotes where it needs them.
    static func quoted(_ text: String) -> String {
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

    /// In quotes, whatever it is.
    static func always(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

    /// This program, as it was called.
    static var program: String {
        let name = ProcessArguments.all.first ?? "attache"
        return name.contains("/") ? quoted(name) : "attache"
    }
}
