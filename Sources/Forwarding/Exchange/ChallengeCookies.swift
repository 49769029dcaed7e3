import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Upstream

/// The cookies that came with the challenges of one request. The resent request carries them, as a browser would send
/// them (RFC 6265). The client gets them with the final response: where several servers share a name, the cookie leads
/// back to the one that knows the challenge's nonce.
///
/// They belong to this request: no request of another client carries them.
struct ChallengeCookies {
    private var jar: CookieJar
    /// The values of `Set-Cookie` as received, the oldest first.
    private var fields: [[UInt8]] = []
    /// The time of the last `take`.
    private var takenAt: WallTime = 0

    /// The limit of the fields in bytes. Beyond it the oldest are dropped.
    private static let sizeLimit = 16 * 1024

    init(of origin: Origin) { jar = CookieJar(origin: origin) }

    /// Stores the cookie of a `Set-Cookie` field.
    ///
    /// - Parameter target: the target of the request that was answered with the field.
    mutating func take(_ field: Span<UInt8>, at target: Span<UInt8>, now: WallTime) {
        takenAt = now
        jar.take(field, at: target, now: now)
        fields.removeAll { CookieJar.isSame($0.span, as: field, at: target) }
        fields.append(field.array)
        while fields.reduce(0, { $0 + $1.count }) > Self.sizeLimit { fields.removeFirst() }
    }

    /// Appends the value of `Cookie` for the resent request: these cookies, and the client's own of other names.
    func append(for request: RequestHead, _ head: Span<UInt8>, at target: Span<UInt8>, to value: ByteBuffer) {
        jar.append(for: target, at: takenAt, to: value)
        for field in request.fields where field.known == .cookie && !field.isNominated {
            jar.append(client: head.extracting(field.value), besidesThoseFor: target, at: takenAt, to: value)
        }
    }

    /// Writes the `Set-Cookie` fields for the client, except for cookies that the final response sets itself.
    func write(
        besidesThoseOf response: ResponseHead, _ head: Span<UInt8>, at target: Span<UInt8>,
        through upgrade: UpgradedOrigin?, to writer: borrowing HeadWriter
    ) {
        for field in fields where !Self.isSet(field, by: response, head, at: target) {
            writer.setCookie(field.span, through: upgrade)
        }
    }

    private static func isSet(
        _ field: [UInt8], by response: ResponseHead, _ head: Span<UInt8>, at target: Span<UInt8>
    ) -> Bool {
        response.fields.contains { other in
            other.known == .setCookie && CookieJar.isSame(field.span, as: head.extracting(other.value), at: target)
        }
    }
}
