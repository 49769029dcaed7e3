import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Upstream

/// The cookies of the challenges that one request has met. They go with the request when it is sent again, as a browser
/// would send them (RFC 6265), and reach the client with the final response: where servers share a name, the cookie leads
/// back to the one that knows the challenge's nonce.
///
/// They are this request's alone: no other client's request ever has them.
struct ChallengeCookies {
    private var jar: CookieJar
    /// The values of `Set-Cookie` as they came, the oldest first.
    private var fields: [[UInt8]] = []
    /// Milliseconds since 1970.
    private var takenAt = 0

    /// Bytes of fields; beyond it the client does without the oldest.
    private static let sizeLimit = 16 * 1024

    init(of origin: Origin) { jar = CookieJar(origin: origin) }

    /// Takes the value of a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - target: of the request that was answered with it.
    ///   - now: milliseconds since 1970.
    mutating func take(_ field: Span<UInt8>, at target: Span<UInt8>, now: Int) {
        takenAt = now
        jar.take(field, at: target, now: now)
        fields.removeAll { CookieJar.isSame($0.span, as: field, at: target) }
        fields.append(field.array)
        while fields.reduce(0, { $0 + $1.count }) > Self.sizeLimit { fields.removeFirst() }
    }

    /// Appends the value of `Cookie` with which the request goes out again: these, and the client's own of other names.
    func append(for request: RequestHead, _ head: Span<UInt8>, at target: Span<UInt8>, to value: ByteBuffer) {
        jar.append(for: target, at: takenAt, to: value)
        for field in request.fields where field.known == .cookie && !field.isNominated {
            jar.append(client: head.extracting(field.value), besidesThoseFor: target, at: takenAt, to: value)
        }
    }

    /// Writes the fields for the client, but those of cookies that the final response sets itself.
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
        for other in response.fields where other.known == .setCookie {
            if CookieJar.isSame(field.span, as: head.extracting(other.value), at: target) { return true }
        }
        return false
    }
}
