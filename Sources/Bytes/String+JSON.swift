extension String {
    /// The text as a JSON string with its quotes (RFC 8259 section 7). Control characters are escaped, also those of C1,
    /// which some terminals obey, and invisible characters that change how the text around them looks.
    public var jsonString: String {
        // Most texts need no escape.
        guard utf8.contains(where: { $0 < .space || $0 == .quote || $0 == .backslash || $0 >= .delete }) else {
            return "\"\(self)\""
        }
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.isInvisible:
                // A scalar beyond sixteen bits needs two escapes.
                for unit in String(Character(scalar)).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is invisible, and may change how the text around it looks: a control, a direction mark, or
    /// the end of a line or paragraph.
    public var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Whether the scalar is invisible, for private use, or no character at all.
    public var isHidden: Bool {
        switch properties.generalCategory {
        case .surrogate, .privateUse, .unassigned: true
        default: isInvisible
        }
    }
}
