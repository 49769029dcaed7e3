import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import Model
import Rules
import Telemetry
import Upstream

/// Signs a request that a rule gives a signing key to. Nobody asks for it: services that know nothing but signatures refuse
/// what has none, and do not say how they would like it.
///
/// A class, since it is large, and most requests have none: looking for it costs two instructions.
public final class RequestSigning {
    private let signature: SignatureV4
    /// The client's own word on its content. A digest of its own counts only where the proxy can make none.
    private let stated: SignedPayload?

    /// To be asked only where some rule signs. Nil when no rule has the request signed, or the client has signed its URL.
    /// - Throws: why it cannot be signed.
    public init?(_ exchange: Exchange, to origin: UpstreamServer, from client: ClientIdentity, _ shared: SharedState)
        throws(Refusal)
    {
        let policy = exchange.policy
        guard !Self.isPresigned(exchange.target) else { return nil }
        var query = ChallengeQuery(
            host: origin.hostText, port: origin.port, protocol: origin.authority.protocol, method: .default,
            client: client)
        query.isSecure = origin.isSecure
        let rule = policy.rules.decide(query)
        guard !rule.isReport, case .use(let names) = rule.action, let name = names.first, !rule.isPlaced else {
            return nil
        }
        let credential: Credential
        do throws(CredentialError) { credential = try policy.credentials.credential(named: name) } catch {
            exchange.record.details = "\(error)"
            shared.report("\(error)")
            throw Refusal(
                .badGateway, .httpRequestDenied,
                "credential \(name), which signs requests to this server, cannot be read; the proxy's log says why")
        }
        guard let key = credential.signingKey else { return nil }
        signature = SignatureV4(key)
        stated = try Self.statement(exchange)
        let head = exchange.headBytes
        for name in SignedFields.replaced { exchange.request.fields.withhold(name, in: head.readable) }
        exchange.record.answer = AnswerRecord(
            scheme: .signature, credential: name, rule: rule.rule?.label, ruleLine: rule.rule?.line ?? 0)
    }

    /// Whether the content has to be looked at first.
    var needsDigest: Bool {
        if case .framed = stated { return false }
        return signature.key.signsPayload
    }

    /// Whether content that is too large to be looked at may go without a digest of the proxy's.
    var mayLeaveUnsigned: Bool { signature.key.isS3 || stated != nil }

    /// Adds the signature to a head that lacks nothing else.
    ///
    /// - Parameters:
    ///   - head: what was written of it.
    ///   - digest: of the content, if it was made.
    public func append(_ head: Span<UInt8>, digest: [UInt8]?, at time: Int, to writer: borrowing HeadWriter) {
        let fields = signature.fields(for: head, payload: payload(digest), at: time)
        writer.field("X-Amz-Date", fields.date)
        writer.field("X-Amz-Content-Sha256", fields.payload)
        fields.token?.withBytes { writer.field("X-Amz-Security-Token", $0) }
        writer.field("Authorization", fields.authorization)
    }

    private func payload(_ digest: [UInt8]?) -> SignedPayload {
        if case .framed = stated, let stated { return stated }
        return digest.map { .digest($0) } ?? stated ?? .unsigned
    }

    private static func statement(_ exchange: Exchange) throws(Refusal) -> SignedPayload? {
        let head = exchange.headBytes
        guard let field = exchange.request.fields.first(named: "x-amz-content-sha256", in: head.readable) else {
            return nil
        }
        do throws(SignedPayload.SignedByClient) {
            return try SignedPayload(head.readable.extracting(field.value))
        } catch {
            throw Refusal(
                .notImplemented, .httpRequestError,
                "the client signs its content in chunks, which cannot be signed again: configure it to send all at once, "
                    + "or in chunks without signatures")
        }
    }

    private static func isPresigned(_ target: ByteBuffer) -> Bool {
        let name = Array("X-Amz-Signature=".utf8)
        let target = target.readable
        var start = target.firstIndex(of: name[0])
        while let offset = start, offset + name.count <= target.count {
            if target.extracting(offset..<offset + name.count).equals(name.span) { return true }
            start = target.firstIndex(of: name[0], from: offset + 1)
        }
        return false
    }
}
