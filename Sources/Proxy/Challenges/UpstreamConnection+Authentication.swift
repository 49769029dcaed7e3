import Authentication
import Bytes
import HTTP

extension UpstreamConnection {
    /// Every challenge of the response that can be read. A line that cannot hides no other.
    var challenges: [HeaderChallenge] {
        withHeadBytes { bytes in
            var parser = ChallengeParser()
            for field in head.fields where field.known == .wwwAuthenticate {
                parser.parse(bytes.extracting(field.value))
            }
            return parser.challenges
        }
    }

    /// Lends the value of `Authentication-Info`, or nil.
    func withAuthenticationInfo<Result>(_ body: (Span<UInt8>?) -> Result) -> Result {
        withHeadBytes { bytes in
            guard let field = head.fields.first(.authenticationInfo) else { return body(nil) }
            return body(bytes.extracting(field.value))
        }
    }
}
