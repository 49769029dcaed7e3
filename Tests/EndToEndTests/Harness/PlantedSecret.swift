import Foundation

/// A secret of a test, in every form in which a program could write it down.
struct PlantedSecret {
    /// The kind of secret, for complaints.
    let kind: String
    let value: String
    /// The user that it belongs to, if any.
    var user: String?

    /// The texts to search for, by the name of the form.
    var forms: [(name: String, text: String)] {
        let bytes = Array(value.utf8)
        let base64 = Data(bytes).base64EncodedString()
        let unreserved = CharacterSet(charactersIn: "-._~").union(.init(charactersIn: "a"..."z"))
            .union(.init(charactersIn: "A"..."Z")).union(.init(charactersIn: "0"..."9"))
        let percent = value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? value
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        var forms = [
            ("raw", value), ("percent", percent), ("lower percent", Self.loweringEscapes(percent)),
            ("form", percent.replacing("%20", with: "+")),
            ("escaped", value.replacing("/", with: "\\/")),
            ("every byte percent", bytes.map { String(format: "%%%02X", $0) }.joined()), ("hex", hex),
            ("upper hex", hex.uppercased()), ("base64", base64.replacing("=", with: "")),
            ("base64url", Self.url(base64)),
        ]
        if let user {
            let pair = Data("\(user):\(value)".utf8).base64EncodedString()
            // RFC 6749 section 2.3.1.
            let formPair = Data("\(user):\(percent)".utf8).base64EncodedString()
            forms += [
                ("base64 pair", pair.replacing("=", with: "")), ("base64url pair", Self.url(pair)),
                ("base64 pair of a form", formPair.replacing("=", with: "")),
            ]
        }
        return forms
    }

    private static func url(_ base64: String) -> String {
        base64.replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    }

    private static func loweringEscapes(_ text: String) -> String {
        text.replacing(/%[0-9A-F]{2}/) { text[$0.range].lowercased() }
    }

    /// The forms of these secrets that stand somewhere in the bytes, as `KIND as FORM`.
    static func found(of secrets: [PlantedSecret], in bytes: Data) -> [String] {
        secrets.flatMap { secret in
            let wide = Data(secret.value.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
            let forms = secret.forms.map { ($0.name, Data($0.text.utf8)) } + [("UTF-16", wide)]
            return forms.filter { bytes.range(of: $0.1) != nil }.map { "\(secret.kind) as \($0.0)" }
        }
    }

    static func found(of secrets: [PlantedSecret], in text: String) -> [String] {
        found(of: secrets, in: Data(text.utf8))
    }
}
