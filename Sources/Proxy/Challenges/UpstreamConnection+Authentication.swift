import Authentication
import Bytes
import HTTP
import TLS
import Transport

extension UpstreamConnection {
    /// Every challenge of the response in lines of that name that can be read. A line that cannot hides no other.
    func challenges(in name: KnownField) -> [HeaderChallenge] {
        withHeadBytes { bytes in
            var parser = ChallengeParser()
            for field in head.fields where field.known == name {
                parser.parse(bytes.extracting(field.value))
            }
            return parser.challenges
        }
    }

    /// Whether a login holds for the connection's next request: `Persistent-Auth`, where the server says so.
    var persistsLogin: Bool {
        withHeadBytes { bytes in
            guard let field = head.fields.first(named: "persistent-auth", in: bytes) else { return true }
            return !bytes.extracting(field.value).equalsIgnoringCase("false")
        }
    }

    /// What ties a login to this connection; nil without TLS, and where the server's certificate has no hash for it.
    var channel: ChannelBinding? {
        stream?.tls?.serverEndPointBinding.map { ChannelBinding(tlsServerEndPoint: $0) }
    }

    /// Lends the value of `Authentication-Info`, or of the field that a proxy says the same in; or nil.
    func withAuthenticationInfo<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result {
        withHeadBytes { bytes in
            guard let field = head.fields.first(name) else { return body(nil) }
            return body(bytes.extracting(field.value))
        }
    }
}
