import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import Model
import Rules
import Telemetry
import Upstream

/// Signs a request if a rule gives a signing key. No challenge asks for it: services that accept only signatures refuse
/// other requests without saying how to sign.
///
/// A class, because it is large and most requests have none: the check costs two instructions.
final class RequestSigning {
    private let signature: SignatureV4
    /// The client's own digest of its content. It counts only if the proxy can make none.
    private let stated: SignatureV4.Payload?

    /// - Parameter head: the bytes of the request's head.
    /// - Throws: the reason why it cannot be signed.
    init(_ request: RequestHead, in head: Span<UInt8>, with key: SigningKey) throws(Refusal) {
        signature = SignatureV4(key)
        stated = try Self.statement(request, in: head)
        for name in SignatureV4.Fields.replaced { request.fields.withhold(name, in: head) }
    }

    /// Whether the content must be read first.
    var needsDigest: Bool {
        if case .framed = stated { return false }
        return signature.key.signsPayload
    }

    /// Whether content that is too large to be read may be sent without a digest by the proxy.
    var mayLeaveUnsigned: Bool { signature.key.isS3 || stated != nil }

    /// Adds the signature to a head that is otherwise complete.
    ///
    /// - Parameters:
    ///   - head: the part of the head that was written.
    ///   - digest: the digest of the content, if it was made.
    func append(_ head: Span<UInt8>, digest: [UInt8]?, at time: Int, to writer: borrowing HeadWriter) {
        let fields = signature.fields(for: head, payload: payload(digest), at: time)
        writer.field("X-Amz-Date", fields.date)
        writer.field("X-Amz-Content-Sha256", fields.payload)
        fields.token?.withBytes { writer.field("X-Amz-Security-Token", $0) }
        writer.field("Authorization", fields.authorization)
    }

    private func payload(_ digest: [UInt8]?) -> SignatureV4.Payload {
        if case .framed = stated, let stated { return stated }
        return digest.map { .digest($0) } ?? stated ?? .unsigned
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

    /// Whether the client has signed the URL.
    static func isPresigned(_ target: Span<UInt8>) -> Bool {
        let name = Array("X-Amz-Signature=".utf8)
        var start = target.firstIndex(of: name[0])
        while let offset = start, offset + name.count <= target.count {
            if target.extracting(offset..<offset + name.count).equals(name.span) { return true }
            start = target.firstIndex(of: name[0], from: offset + 1)
        }
        return false
    }
}
