import CIDN2

/// Converts a host name beyond ASCII to the ASCII form with `xn--` (RFC 5891) that rules and requests use.
public enum InternationalName {
    /// Nil if the name has no ASCII form, or if libidn2 is not installed.
    public static func asciiForm(of name: String) -> String? {
        var library = libidn2()
        guard !name.utf8.contains(0), libidn2_load(&library), let convert = library.to_ascii_8z else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        let isDone = convert(name, &output, LIBIDN2_FLAGS) == 0
        defer { library.free?(output) }
        guard isDone, let output else { return nil }
        return String(cString: output)
    }
}
