import Bytes

/// Text from a certificate, made safe for a terminal, a log and an error page.
enum VisibleText {
    /// Escapes control characters, direction marks, blanks that break lines and unassigned characters as pairs of
    /// hexadecimal digits after a backslash (RFC 4514 section 2.4).
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isHidden) else { return text }
        var visible = ""
        for scalar in text.unicodeScalars {
            if scalar.isHidden {
                for unit in String(scalar).utf8 {
                    visible += (unit < 16 ? "\\0" : "\\") + String(unit, radix: 16, uppercase: true)
                }
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    /// Returns `text`, or its beginning and an ellipsis if it is too long for a sentence.
    static func shortened(_ text: String, to limit: Int = 200) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= limit ? text : String(String.UnicodeScalarView(scalars.prefix(limit))) + "…"
    }
}
