/// A user as NTLM names one: the domain may be left to the server.
struct NTLMAccount: Sendable, Equatable {
    let domain: String
    let user: String

    /// `DOMAIN\user`, `user@domain.example` (which goes whole, and without a domain), or a user alone. Nil without a
    /// user's name: the server would take the client for anonymous.
    init?(_ name: String) {
        if let backslash = name.firstIndex(of: "\\") {
            domain = String(name[..<backslash])
            user = String(name[name.index(after: backslash)...])
        } else {
            domain = ""
            user = name
        }
        if user.isEmpty { return nil }
    }

    /// What the password's hash is keyed over: the user in capitals, and the domain as it stands
    /// ([MS-NLMP] section 3.3.2).
    var identity: [UInt8] { Array(utf16: Self.uppercased(user) + domain) }

    /// Character by character, as Windows does it: what would become two characters, or a character of ASCII that was
    /// none, stays.
    private static func uppercased(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let upper = scalar.properties.uppercaseMapping.unicodeScalars
            let isSimple = upper.count == 1 && upper.first?.isASCII == scalar.isASCII && scalar.value < 0x1_0000
            result.unicodeScalars.append(isSimple ? upper.first ?? scalar : scalar)
        }
        return result
    }
}
