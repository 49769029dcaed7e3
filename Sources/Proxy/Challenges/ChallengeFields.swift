import HTTP

/// In which words a server challenges and is answered: as an origin (RFC 9110 section 11.6) or as a proxy on the way
/// (section 11.7).
struct ChallengeFields {
    let status: Status
    let challenge: KnownField
    let answer: StaticString
    let information: KnownField

    static let origin = ChallengeFields(
        status: .unauthorized, challenge: .wwwAuthenticate, answer: "Authorization", information: .authenticationInfo)
    static let proxy = ChallengeFields(
        status: .proxyAuthenticationRequired, challenge: .proxyAuthenticate, answer: "Proxy-Authorization",
        information: .proxyAuthenticationInfo)
}

extension Origin {
    var challengeFields: ChallengeFields { isProxy ? .proxy : .origin }
}
