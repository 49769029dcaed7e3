import Bytes

/// Signs requests by HTTP Message Signatures (RFC 9421) as Web Bot Auth does (draft-ietf-webbotauth-httpsig-protocol):
/// by Ed25519, with the tag `web-bot-auth`, over the authority and the member of `Signature-Agent` that names the agent.
///
/// It covers more of the request if the server asks for it (`Accept-Signature`).
public struct MessageSignature: Sendable {
    public let key: SigningKey.Message

    public init(_ key: SigningKey.Message) { self.key = key }

    /// The fields of a signed request, which has no others with these names.
    public struct Fields: Sendable, Equatable {
        /// The value of `Signature-Agent`.
        public let agent: String
        /// The value of `Content-Digest` (RFC 9530); nil if the signature does not cover it.
        public let contentDigest: String?
        /// The value of `Signature-Input`.
        public let input: String
        /// The value of `Signature`.
        public let signature: String
    }

    /// The tag of the protocol.
    static let tag = "web-bot-auth"
    static let algorithm = "ed25519"
    /// The time after which a signature is no longer accepted: enough for a slow way and for clocks that differ.
    static let lifetime: Milliseconds = .minutes(5)

    /// The fields; nil if the request lacks a part that is to be signed, or the key cannot sign.
    ///
    /// - Parameters:
    ///   - isSecure: whether the server is asked over TLS.
    ///   - wanted: the signature that the server asked for; nil if it did not.
    ///   - digest: the SHA-256 of the content, if the signature covers it.
    ///   - nonce: a text for this signature alone; not used if the server has given one.
    public func fields(
        for request: SignedRequest, isSecure: Bool, wanted: SignatureRequest?, digest: [UInt8]?, at time: WallTime,
        nonce: String
    ) -> Fields? {
        let label = wanted?.label ?? "sig"
        let agent = "\(label)=\(Self.quoted(key.agent))"
        let contentDigest = digest.map { "sha-256=:\(Base64.encode($0)):" }
        var components = wanted?.components ?? []
        if !components.contains("@authority") { components.insert("@authority", at: 0) }
        var identifiers = components.map { Self.quoted($0) }
        identifiers.append("\"signature-agent\";key=\(Self.quoted(label))")
        var values: [[UInt8]] = []
        for component in components {
            let own = component == "signature-agent" ? agent : component == "content-digest" ? contentDigest : nil
            guard let value = own.map({ Array($0.utf8) }) ?? Self.value(of: component, in: request, isSecure) else {
                return nil
            }
            values.append(value)
        }
        values.append(Array(Self.quoted(key.agent).utf8))
        let parameters =
            "(\(identifiers.joined(separator: " ")));created=\(time.seconds);keyid=\(Self.quoted(key.id))"
            + ";alg=\"\(Self.algorithm)\";expires=\((time + Self.lifetime).seconds);nonce=\(Self.quoted(wanted?.nonce ?? nonce))"
            + ";tag=\"\(Self.tag)\""
        guard let signature = key.signer.signature(of: Self.base(zip(identifiers, values), parameters)) else {
            return nil
        }
        return Fields(
            agent: agent, contentDigest: contentDigest, input: "\(label)=\(parameters)",
            signature: "\(label)=:\(Base64.encode(signature)):")
    }

    /// The signature base (RFC 9421 section 2.5).
    static func base(_ components: some Sequence<(String, [UInt8])>, _ parameters: String) -> [UInt8] {
        var base: [UInt8] = []
        for (identifier, value) in components { base += Array("\(identifier): ".utf8) + value + [.lineFeed] }
        return base + Array("\"@signature-params\": \(parameters)".utf8)
    }

    /// The value of a component without parameters (RFC 9421 sections 2.1 and 2.2); nil if the request has none.
    static func value(of component: String, in request: SignedRequest, _ isSecure: Bool) -> [UInt8]? {
        let target = request.path + (request.query.map { [.question] + $0 } ?? [])
        let scheme = Array((isSecure ? "https" : "http").utf8)
        return switch component {
        case "@method": request.method
        case "@authority": request.authority(isSecure: isSecure)
        case "@scheme": scheme
        case "@target-uri": scheme + Array("://".utf8) + request.authority(isSecure: isSecure) + target
        case "@request-target": target
        case "@path": request.path.isEmpty ? [.slash] : request.path
        case "@query": [.question] + (request.query ?? [])
        default: component.hasPrefix("@") ? nil : request.value(of: component)
        }
    }

    /// A string of a structured field (RFC 8941 section 4.1.6). The text is printable ASCII.
    private static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = [.quote]
        for byte in text.utf8 {
            if byte == .quote || byte == .backslash { quoted.append(.backslash) }
            quoted.append(byte)
        }
        return String(decoding: quoted + [.quote], as: UTF8.self)
    }
}
