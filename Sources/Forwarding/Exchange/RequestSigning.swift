import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import Model
import Rules
import Telemetry
import Upstream

/// Signs a request if a rule gives a signing key. Each request gets its own signature when its head is written, also
/// when it is sent again.
///
/// No challenge asks for a signature of AWS or OAuth: services that accept only signatures refuse other requests without
/// saying how to sign. A server may ask for a message signature (`Accept-Signature`).
///
/// A class, because it is large and most requests have none: the check costs two instructions.
final class RequestSigning {
    private enum Signer {
        /// - Parameter stated: the client's own digest of its content. It counts only if the proxy can make none.
        case aws(SignatureV4, stated: SignatureV4.Payload?)
        /// - Parameter isForm: whether the content is a form, whose parameters are signed.
        case oauth1(OAuth1Signature, isForm: Bool)
        case message(MessageSignature)
    }

    /// The part of a request's content that must be read before the head is sent.
    enum WantedContent: Equatable {
        case digest(DigestAlgorithm)
        /// - Parameter limit: the bytes that a form may have.
        case form(limit: Int)
    }

    private let signer: Signer
    /// The secrets that are part of the request.
    private let sentSecrets: [Secret]
    /// Whether the origin is asked over TLS.
    private let isSecure: Bool
    private let answer: AnswerRecord
    /// Whether the next head is signed.
    private var isDue: Bool
    /// The signature that the server asked for, once for each request.
    private var wanted: SignatureRequest?
    /// The digest of the content, once it was read.
    var digest: [UInt8]?
    /// The form that is the content, once it was read.
    var form: [UInt8] = []

    /// The bytes of a form that is read for its parameters.
    private static let formLimit = 1024 * 1024

    /// The sentence about a `401` to the signed request; nil for a message signature, beside which a login may be due.
    var refusal: String? {
        if case .message = signer {
            nil
        } else {
            "the origin refuses the signature by credential \(answer.credential ?? "")"
        }
    }

    /// - Parameters:
    ///   - head: the bytes of the request's head.
    ///   - isDue: whether the first request is signed; if not, the server must ask for it.
    ///   - answer: the record of a signed request.
    /// - Throws: the reason why it cannot be signed.
    init(
        _ request: RequestHead, in head: Span<UInt8>, with key: SigningKey, over isSecure: Bool, isDue: Bool,
        recordedAs answer: AnswerRecord
    ) throws(Refusal) {
        switch key {
        case .aws(let key): signer = .aws(SignatureV4(key), stated: try Self.statement(request, in: head))
        case .oauth1(let key): signer = .oauth1(OAuth1Signature(key), isForm: Self.hasForm(request, in: head))
        case .message(let key): signer = .message(MessageSignature(key))
        }
        sentSecrets = key.sentSecrets
        self.isSecure = isSecure
        self.isDue = isDue
        self.answer = answer
        for name in Self.replaced(by: key.scheme) { request.fields.withhold(name, in: head) }
    }

    /// The names, in lower case, of the fields that are removed from a client's request before it is signed.
    /// `authorization` is not among them.
    private static func replaced(by scheme: SignatureSource.Scheme) -> [StaticString] {
        switch scheme {
        case .aws: SignatureV4.Fields.replaced
        case .oauth1: []
        case .message: ["signature-agent", "signature-input", "signature"]
        }
    }

    /// Whether the signature is in `Authorization`, so that no challenge can be answered beside it.
    var usesAuthorization: Bool { if case .message = signer { false } else { true } }

    /// Hides the secrets of the request in text of the server.
    func hideSecrets(in mask: inout EchoMask) {
        for secret in sentSecrets { secret.withBytes { mask.add($0) } }
    }

    /// The part of the content that must be read first; nil if none.
    var wantedContent: WantedContent? {
        switch signer {
        case .aws(_, .framed?): nil
        case .aws(let signature, _): signature.key.signsPayload ? .digest(.sha256) : nil
        case .oauth1(let signature, isForm: true): signature.coversForms ? .form(limit: Self.formLimit) : nil
        case .oauth1(let signature, isForm: false):
            signature.key.signsPayload ? signature.bodyHash.map { .digest($0) } : nil
        case .message: wanted?.components.contains("content-digest") == true ? .digest(.sha256) : nil
        }
    }

    /// Whether content that is too large to be read may be sent without a digest by the proxy.
    var mayLeaveUnsigned: Bool {
        switch signer {
        case .aws(let signature, let stated): signature.key.isS3 || stated != nil
        case .oauth1: false
        // The client's own digest is signed, if it has one.
        case .message: true
        }
    }

    /// Whether the response asks for a signature that the request did not have, so that the request is sent again with
    /// it. At most once for each request.
    ///
    /// A login that belongs to the connection goes first. Servers ask with 403 or 429 (Web Bot Auth, section "Requesting
    /// a Message Signature"), and with 401.
    func isRequested(by exchange: Exchange) -> Bool {
        let (upstream, statuses) = (exchange.upstream, [Status.unauthorized, .forbidden, .tooManyRequests])
        guard case .message(let signature) = signer, wanted == nil, statuses.contains(upstream.head.status),
            exchange.credentials.challenges?.loginVersions.0 == nil,
            let found = Self.request(in: upstream, for: signature.key.id)
        else { return false }
        let request = exchange.request
        let head = exchange.headBytes
        let own = ["host", "signature-agent", "content-digest"]
        for name in found.components where !name.hasPrefix("@") && !own.contains(name) {
            let isThere = request.fields.contains { field in
                !field.isNominated && head.readable.extracting(field.name).equalsIgnoringCase(name.utf8Span.span)
            }
            guard isThere else { return false }
        }
        (wanted, isDue) = (found, true)
        return true
    }

    private static func request(in upstream: UpstreamConnection, for keyID: String) -> SignatureRequest? {
        upstream.withHeadBytes { bytes in
            var lines: [UInt8] = []
            for field in upstream.head.fields
            where bytes.extracting(field.name).equalsIgnoringCase("accept-signature") {
                let value = bytes.extracting(field.value)
                guard lines.count + value.count < SignatureRequest.Limits.bytes else { return nil }
                lines += (lines.isEmpty ? [] : [.comma]) + value.array
            }
            return lines.isEmpty ? nil : SignatureRequest(lines.span, keyID: keyID)
        }
    }

    /// Adds the signature to a head that is otherwise complete. Nothing if the key cannot sign, or the system gives no
    /// random bytes for a nonce; then the server refuses the request.
    func append(to writer: borrowing HeadWriter, of exchange: Exchange, at time: WallTime) {
        guard isDue else { return }
        let out = exchange.outbound
        switch signer {
        case .aws(let signature, let stated):
            let payload = payload(stated, isEmpty: exchange.body.isEmpty)
            let fields = signature.fields(for: out.readable, payload: payload, at: time)
            writer.field("X-Amz-Date", fields.date)
            writer.field("X-Amz-Content-Sha256", fields.payload)
            fields.token?.withBytes { writer.field("X-Amz-Security-Token", $0) }
            writer.field("Authorization", fields.authorization)
        case .oauth1(let signature, let isForm):
            let content: OAuth1Signature.Content = isForm ? .form(form) : digest.map { .digest($0) } ?? .none
            // Many servers take 20 to 30 characters.
            guard let nonce = (try? RandomBytes.make(12)).map({ Hex.encode($0) }),
                let value = signature.authorization(
                    for: SignedRequest(out.readable), isSecure: isSecure, content: content, at: time,
                    nonce: nonce)
            else { return }
            value.withBytes { writer.field("Authorization", $0) }
        case .message(let signature):
            guard let fields = messageFields(signature, exchange, at: time) else { return }
            if let digest = fields.contentDigest { writer.field("Content-Digest", digest) }
            writer.field("Signature-Agent", fields.agent)
            writer.field("Signature-Input", fields.input)
            writer.field("Signature", fields.signature)
        }
        // The answer to a challenge says more.
        if exchange.record.facts.answer?.scheme == nil { exchange.record.facts.answer = answer }
        exchange.record.facts.attempts += 1
    }

    private func messageFields(
        _ signature: MessageSignature, _ exchange: Exchange, at time: WallTime
    ) -> MessageSignature.Fields? {
        // 64 bytes, as the vectors of Web Bot Auth have.
        guard let nonce = (try? RandomBytes.make(64)).map({ Base64.encode($0) }) else { return nil }
        var digest = digest
        if wantedContent != nil, exchange.body.isEmpty { digest = MessageDigest(.sha256).finish().array }
        let out = exchange.outbound
        return signature.fields(
            for: SignedRequest(out.readable), isSecure: isSecure, wanted: wanted, digest: digest, at: time,
            nonce: nonce)
    }

    private func payload(_ stated: SignatureV4.Payload?, isEmpty: Bool) -> SignatureV4.Payload {
        if case .framed = stated, let stated { return stated }
        if isEmpty, wantedContent != nil { return .digest(MessageDigest(.sha256).finish().array) }
        return digest.map { .digest($0) } ?? stated ?? .unsigned
    }

    /// Whether the request's content is a form as RFC 5849 section 3.4.1.3.1 means it.
    private static func hasForm(_ request: RequestHead, in head: Span<UInt8>) -> Bool {
        guard let field = request.fields.first(.contentType), !request.fields.present.contains(.contentEncoding) else {
            return false
        }
        let value = head.extracting(field.value)
        let end = value.firstIndex(of: .semicolon, in: 0..<value.count) ?? value.count
        return value.extracting(value.trimmingBlanks(0..<end)).equalsIgnoringCase("application/x-www-form-urlencoded")
    }

    private static func statement(_ request: RequestHead, in head: Span<UInt8>) throws(Refusal) -> SignatureV4.Payload?
    {
        guard let field = request.fields.first(named: "x-amz-content-sha256", in: head) else { return nil }
        do throws(SignatureV4.Payload.SignedByClient) {
            return try SignatureV4.Payload(head.extracting(field.value))
        } catch {
            throw Refusal(
                .notImplemented, .httpRequestError,
                "the client signs its content in chunks, which cannot be signed again: configure it to send all at once, "
                    + "or in chunks without signatures")
        }
    }

    /// Whether the client has signed the request in fields of its own, beside `Authorization`.
    static func isSigned(_ request: RequestHead, in head: Span<UInt8>, by scheme: SignatureSource.Scheme) -> Bool {
        scheme == .message
            && (request.fields.first(named: "signature", in: head) != nil
                || request.fields.first(named: "signature-input", in: head) != nil)
    }

    /// Whether the client has signed the URL.
    static func isPresigned(_ target: Span<UInt8>, by scheme: SignatureSource.Scheme) -> Bool {
        let word: String
        switch scheme {
        case .aws: word = "X-Amz-Signature="
        case .oauth1: word = "oauth_signature="
        case .message: return false
        }
        let name = Array(word.utf8)
        var start = target.firstIndex(of: name[0])
        while let offset = start, offset + name.count <= target.count {
            if target.extracting(offset..<offset + name.count).equals(name.span) { return true }
            start = target.firstIndex(of: name[0], from: offset + 1)
        }
        return false
    }
}
