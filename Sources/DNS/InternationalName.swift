import CIDN2

/// A host name beyond ASCII. Rules and requests have its ASCII form, with `xn--` (RFC 5891).
public enum InternationalName {
    /// Nil where the name has none, or libidn2 is not installed.
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
