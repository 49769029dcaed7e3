/// What the two sides agree on ([MS-NLMP] section 2.2.2.5).
struct NTLMFlags: OptionSet, Sendable {
    let rawValue: UInt32

    static let unicode = NTLMFlags(rawValue: 1 << 0)
    static let oem = NTLMFlags(rawValue: 1 << 1)
    static let requestTarget = NTLMFlags(rawValue: 1 << 2)
    static let ntlm = NTLMFlags(rawValue: 1 << 9)
    static let alwaysSign = NTLMFlags(rawValue: 1 << 15)
    static let extendedSessionSecurity = NTLMFlags(rawValue: 1 << 19)
    static let targetInformation = NTLMFlags(rawValue: 1 << 23)
    static let version = NTLMFlags(rawValue: 1 << 25)
    static let key128 = NTLMFlags(rawValue: 1 << 29)
    static let key56 = NTLMFlags(rawValue: 1 << 31)

    /// What we ask for. Nothing is signed or sealed over HTTP, so no session key is exchanged either.
    static let offered: NTLMFlags = [
        .unicode, .oem, .requestTarget, .ntlm, .alwaysSign, .extendedSessionSecurity, .targetInformation, .version,
        .key128, .key56,
    ]
}
