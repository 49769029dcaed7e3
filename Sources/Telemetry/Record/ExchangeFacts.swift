import Bytes
import HTTP
import Model

extension ExchangeRecord {
    /// The properties of one request, with the members of the JSON log that are made of them.
    public struct Facts {
        /// The user as whom the client authenticated to the proxy.
        @Seldom public var user: String?
        /// The version of SOCKS by which the client asked; nil: it asked by HTTP.
        public var socks: SOCKSVersion?
        /// Whether the client knows of no proxy, and its connection was redirected here.
        public var isRedirected = false
        /// The version of HTTP that the client spoke.
        public var version = Version.http11
        /// The form of the target, without which its parts are not written.
        var targetForm = TargetForm.path
        /// The port of the target.
        var port = 0
        /// The status sent to the client; 0 before it is sent.
        public var status = 0
        /// The bytes of body or tunnel from the client.
        public var bytesIn = 0
        /// The bytes of body or tunnel to the client.
        public var bytesOut = 0

        /// The bytes of the response's head that were sent to the client.
        public var headBytesOut = 0
        /// The server of the last attempt: an origin, or a parent.
        public var server: IPAddress?

        /// The pattern of the `route` that matched.
        @Seldom public var route: String?
        /// The parent proxy of the request.
        @Seldom public var parent: ParentFigures?
        /// The answer to the origin's challenges, or the rule about them; nil if neither. `parentAnswer` is for the
        /// parent's.
        @Seldom public var answer: AnswerRecord?
        @Seldom public var parentAnswer: AnswerRecord?
        /// The number of times that this exchange sent a credential.
        public var attempts = 0
        /// The challenge of the exchange; nil if none came, as in a known space.
        @Seldom public var challenge: ChallengeRecord?

        public var upstream = Upstream.none
        /// The protocol in the tunnel; nil for requests, and for tunnels that are relayed without inspection because no
        /// route says otherwise.
        public var tunnel: Tunnel?
        /// The TLS with the origin; nil without TLS.
        @Seldom public var security: SecurityRecord?
        /// Whether the new connection resumed an earlier TLS session.
        public var isResumed = false
        /// Whether the parent is asked by HTTP/2; meaningless without a parent.
        public var asksParentByHTTP2 = false
        /// The time from the first byte of the request to its end, in nanoseconds.
        public var duration: UInt64 = 0
        /// The time of DNS lookup and connecting, in nanoseconds; nil for a kept connection.
        public var connecting: UInt64?
        /// The time from sending the request upstream to the first byte of the response, in nanoseconds.
        public var wait: UInt64?
        /// The time from the first challenge to the response after the last answer, in nanoseconds; nil if the proxy
        /// answered none.
        public var answering: UInt64?
        /// The value of `Proxy-Status` that was sent to the client, if the record keeps `challenges`; nil if none was
        /// sent.
        @Seldom public var proxyStatus: String?
        /// The trace of the request; nil if no route requests one.
        @Seldom public var trace: RequestTrace?

        /// The reason why the proxy itself ended the exchange.
        public var error: ProxyError?
        /// A sentence about `error` for the operator.
        @Seldom public var details: String?
    }

    /// Appends the members of a line that follow the client and the target.
    func appendMembers(to line: ByteBuffer) {
        if facts.status > 0 { line.append(key: #","status":"#, number: facts.status) }
        line.append(key: #","bytes_in":"#, number: facts.bytesIn)
        line.append(key: #","bytes_out":"#, number: facts.bytesOut)
        line.append(key: #","ms":"#, number: milliseconds)
        if let connect = connectMilliseconds { line.append(key: #","connect_ms":"#, number: connect) }
        if let wait = waitMilliseconds { line.append(key: #","wait_ms":"#, number: wait) }
        switch facts.upstream {
        case .none: break
        case .opened: line.append(#","upstream":"opened""#)
        case .reused: line.append(#","upstream":"reused""#)
        }
        line.append(key: #","http":""#, token: facts.version == .http2 ? "2" : nil)
        line.append(key: #","socks":""#, token: facts.socks?.token)
        if facts.isRedirected { line.append(#","redirected":true"#) }
        line.append(key: #","tunnel":""#, string: facts.tunnel?.rawValue)
        if let security = facts.security { append(security, to: line) }
        line.append(key: #","route":""#, string: facts.route)
        if let parent = facts.parent {
            line.append(key: #","parent":""#, string: parent.parent.label)
            if facts.asksParentByHTTP2 { line.append(#","parent_http":"2""#) }
            line.append(key: #","parent_scheme":""#, token: parentScheme?.token)
            line.append(key: #","parent_credential":""#, string: parentCredential)
        }
        appendDecision(to: line)
    }

    private func append(_ security: SecurityRecord, to line: ByteBuffer) {
        line.append(key: #","tls":""#, token: security.version)
        if security.speaksHTTP2 { line.append(#","upstream_http":"2""#) }
        if facts.isResumed { line.append(#","tls_resumed":true"#) }
        line.append(key: #","trust_findings":""#, string: security.trustFindings)
        line.append(key: #","trust_rule":"#, rule: security.trustRule)
        if security.isException { line.append(#","trust_exception":true"#) }
        line.append(key: #","identity":""#, string: security.identity)
    }

    private func appendDecision(to line: ByteBuffer) {
        line.append(key: #","rule":"#, rule: rule)
        line.append(key: #","scheme":""#, token: scheme?.token)
        line.append(key: #","credential":""#, string: credential)
        if facts.attempts > 0 { line.append(key: #","attempts":"#, number: facts.attempts) }
        if let challenge = facts.challenge {
            line.append(key: #","challenge":""#, string: challenge.schemes)
            line.append(key: #","realm":""#, string: challenge.realm)
        }
        line.append(key: #","error":""#, string: facts.error?.rawValue)
        line.append(key: #","details":""#, string: facts.details)
    }
}
