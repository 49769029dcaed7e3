import Bytes

/// Character references (WHATWG HTML section 13.5): all numbers, and the names that the values of forms are likely to
/// contain, those of HTML 4 for Latin-1 and of ASCII characters.
enum HTMLCharacterReference {
    /// - Parameter isAttribute: whether the text is an attribute's value. There a name without semicolon that could be
    ///   part of a query is kept as text.
    static func resolve(_ text: String, isAttribute: Bool) -> String {
        guard text.utf8.contains(.ampersand) else { return text }
        var resolved = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            guard first == "&", let (scalar, end) = reference(rest, isAttribute: isAttribute) else {
                resolved.append(first)
                rest = rest.dropFirst()
                continue
            }
            resolved.append(scalar)
            rest = rest[end...]
        }
        return String(resolved)
    }

    /// The character of the reference at the start of the text, and the end of the reference.
    private static func reference(
        _ text: Substring.UnicodeScalarView, isAttribute: Bool
    ) -> (Unicode.Scalar, String.Index)? {
        let inner = text.dropFirst()
        if inner.first == "#" { return number(inner.dropFirst()) }
        let name = inner.prefix { $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) }
        guard name.count <= longestName else { return nil }
        let behind = inner[name.endIndex...].first
        if behind == ";", let scalar = named(String(name)) {
            return (scalar, inner.index(after: name.endIndex))
        }
        // Only the old names are valid without a semicolon, alone or followed by more text.
        if isAttribute {
            guard behind != "=", behind != ";", let scalar = latin(String(name)) else { return nil }
            return (scalar, name.endIndex)
        }
        for length in stride(from: name.count, through: 2, by: -1) {
            if let scalar = latin(String(name.prefix(length))) {
                return (scalar, name.index(name.startIndex, offsetBy: length))
            }
        }
        return nil
    }

    private static func number(_ text: Substring.UnicodeScalarView) -> (Unicode.Scalar, String.Index)? {
        let isHexadecimal = text.first == "x" || text.first == "X"
        let digits = (isHexadecimal ? text.dropFirst() : text).prefix {
            isHexadecimal ? $0.properties.isASCIIHexDigit : ("0"..."9").contains($0)
        }
        guard !digits.isEmpty else { return nil }
        let end = text[digits.endIndex...].first == ";" ? text.index(after: digits.endIndex) : digits.endIndex
        let value = UInt32(String(digits), radix: isHexadecimal ? 16 : 10)
        switch value {
        case .some(0x80...0x9F): return (HTMLCharset.scalar(UInt8(value ?? 0)), end)
        case .some(1...): return (value.flatMap { Unicode.Scalar($0) } ?? "\u{FFFD}", end)
        default: return ("\u{FFFD}", end)
        }
    }

    private static let longestName = 8

    private static func named(_ name: String) -> Unicode.Scalar? { latin(name) ?? ascii[name] }

    private static func latin(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp", "AMP": "&"
        case "lt", "LT": "<"
        case "gt", "GT": ">"
        case "quot", "QUOT": "\""
        default: latin1[name]
        }
    }

    private static let ascii: [String: Unicode.Scalar] = [
        "apos": "'", "Tab": "\t", "NewLine": "\n", "excl": "!", "num": "#", "dollar": "$", "percnt": "%",
        "lpar": "(", "rpar": ")", "ast": "*", "plus": "+", "comma": ",", "period": ".", "sol": "/", "colon": ":",
        "semi": ";", "equals": "=", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\",
        "rsqb": "]", "rbrack": "]", "Hat": "^", "lowbar": "_", "grave": "`", "lcub": "{", "lbrace": "{",
        "verbar": "|", "vert": "|", "rcub": "}", "rbrace": "}", "euro": "\u{20AC}", "ndash": "\u{2013}",
        "mdash": "\u{2014}", "hellip": "\u{2026}",
    ]

    private static let latin1 = Dictionary(
        uniqueKeysWithValues: zip(latin1Names, (0xA0...0xFF).compactMap { Unicode.Scalar(UInt32($0)) }))

    /// The names for U+00A0 and up.
    private static let latin1Names = [
        "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not",
        "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1",
        "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml",
        "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH",
        "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc",
        "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig",
        "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde",
        "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml",
        "yacute", "thorn", "yuml",
    ]
}
