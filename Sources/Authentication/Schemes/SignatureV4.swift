import Bytes
import Crypto

/// Signs requests by AWS Signature Version 4 (`AWS4-HMAC-SHA256`). There is no challenge and no session: every request
/// to the service carries a signature of its own, over its content and time.
public struct SignatureV4: Sendable {
    public let key: SigningKey.AWS

    public init(_ key: SigningKey.AWS) { self.key = key }

    /// - Parameter head: request line and fields as they are sent, each with its line end, without the empty line and
    ///   without any of `SignedFields`.
    public func fields(for head: Span<UInt8>, payload: SignatureV4.Payload, at time: WallTime) -> SignatureV4.Fields {
        let date = Self.basicFormat(time)
        var added = [
            (name: "x-amz-content-sha256", value: Array(payload.text.utf8)),
            (name: "x-amz-date", value: Array(date.utf8)),
        ]
        if let token = key.sessionToken {
            added.append((name: "x-amz-security-token", value: token.withBytes { $0.array }))
        }
        let request = SignatureV4.CanonicalRequest(
            head: head, adding: added, payload: payload.text, isS3: key.isS3, signs: Self.isSigned)
        return SignatureV4.Fields(
            date: date, payload: payload.text, token: key.sessionToken,
            authorization: authorization(for: request, date: date))
    }

    /// Whether a field is signed: those that change the meaning of a request to a service. Others change on the way.
    private static func isSigned(_ name: String) -> Bool {
        name == "host" || name == "content-type" || name == "content-md5" || name.hasPrefix("x-amz-")
    }

    func authorization(for request: SignatureV4.CanonicalRequest, date: String) -> String {
        let day = String(date.prefix(8))
        let scope = "\(day)/\(key.region)/\(key.service)/aws4_request"
        let digest = MessageDigest.digest(.sha256, of: request.bytes.span)
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(digest.withHexadecimal { $0.text })"
        let signature = MessageAuthenticationCode(key: signingKey(for: day)).code(of: text.utf8Span.span)
        return "AWS4-HMAC-SHA256 Credential=\(key.accessKey)/\(scope), SignedHeaders=\(request.signedNames), "
            + "Signature=\(signature.withHexadecimal { $0.text })"
    }

    /// The key of one day, region and service.
    func signingKey(for day: String) -> MessageDigest.Value {
        var first: [UInt8] = []
        first.reserveCapacity(4 + key.secretKey.count)
        first += "AWS4".utf8
        first.append(key.secretKey)
        let secret = Secret(wiping: &first)
        return [key.region, key.service, "aws4_request"].reduce(
            MessageAuthenticationCode(key: secret).code(of: day.utf8Span.span)
        ) { code, text in MessageAuthenticationCode(key: code).code(of: text.utf8Span.span) }
    }

    /// A time as `20150830T123600Z`, the basic format of ISO 8601.
    static func basicFormat(_ time: WallTime) -> String {
        let time = CivilTime(time)
        let digits = { (value: Int) in value < 10 ? "0\(value)" : String(value) }
        return "\(time.year)" + digits(time.month) + digits(time.day) + "T" + digits(time.hour) + digits(time.minute)
            + digits(time.second) + "Z"
    }

    /// The fields of a signed request, which has no others with these names.
    public struct Fields: Sendable {
        /// The value of `X-Amz-Date`.
        public let date: String
        /// The value of `X-Amz-Content-Sha256`.
        public let payload: String
        /// The value of `X-Amz-Security-Token`.
        public let token: Secret?
        /// The value of `Authorization`.
        public let authorization: String

        /// The names, in lower case, of the fields that are removed from a client's request before it is signed.
        /// `authorization` is not among them.
        public static let replaced: [StaticString] = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
    }

    /// The statement of a signature about a request's content: `X-Amz-Content-Sha256`, and the last line of the signed
    /// text.
    public enum Payload: Sendable, Equatable {
        /// The SHA-256 of the content.
        case digest([UInt8])
        /// The content is not signed: `UNSIGNED-PAYLOAD`.
        case unsigned
        /// The digest is the client's; the proxy did not compute it.
        case stated(String)
        /// The content is not signed; the client's own framing.
        case framed(String)

        /// The error if the client signs its content piece by piece with its own key.
        public struct SignedByClient: Error {}

        /// - Parameter field: the client's own `X-Amz-Content-Sha256`.
        public init(_ field: Span<UInt8>) throws(SignedByClient) {
            let word = field.text
            if word.hasPrefix("STREAMING-AWS4-") { throw SignedByClient() }
            self = word.hasPrefix("STREAMING-") ? .framed(word) : .stated(word)
        }

        var text: String {
            switch self {
            case .digest(let digest): Hex.encode(digest)
            case .unsigned: "UNSIGNED-PAYLOAD"
            case .stated(let word), .framed(let word): word
            }
        }
    }

    /// A request in the canonical form that both sides of AWS Signature Version 4 hash: "Create a canonical request" in the
    /// IAM User Guide, and for S3 "Signature Calculations for the Authorization Header".
    ///
    /// It is read from the head as it is sent, so the signature covers what the server receives.
    struct CanonicalRequest {
        let bytes: [UInt8]
        /// The names of the signed fields, separated by semicolons.
        let signedNames: String

        /// - Parameters:
        ///   - head: request line and fields, each line ended, without the empty line.
        ///   - added: more fields, with names in lower case.
        ///   - isS3: whether the path is encoded once.
        ///   - signs: whether a field is signed, by its name in lower case.
        init(
            head: Span<UInt8>, adding added: [(name: String, value: [UInt8])], payload: String, isS3: Bool,
            signs: (String) -> Bool
        ) {
            let request = SignedRequest(head)
            let fields = Self.fields(request.fields, adding: added, signs: signs)
            signedNames = fields.map(\.name).joined(separator: ";")
            var text = request.method + [.lineFeed]
            text += Self.path(request.path, isS3: isS3) + [.lineFeed]
            // The query is sorted by name, then by value, both encoded. A plus means a blank, as servers read it.
            var query = SignedRequest.Parameters()
            query.addForm(request.query ?? [])
            text += query.normalised + [.lineFeed]
            for field in fields { text += Array(field.name.utf8) + [.colon] + field.value + [.lineFeed] }
            text += [.lineFeed] + Array(signedNames.utf8) + [.lineFeed] + Array(payload.utf8)
            bytes = text
        }

        private static let dot = UInt8(ascii: ".")

        /// The fields by name. Values of one name are joined, blanks trimmed and squeezed.
        private static func fields(
            _ fields: [(name: String, value: ArraySlice<UInt8>)], adding added: [(name: String, value: [UInt8])],
            signs: (String) -> Bool
        ) -> [(name: String, value: [UInt8])] {
            var values: [String: [[UInt8]]] = [:]
            for field in fields where signs(field.name) {
                values[field.name, default: []].append(squeezed(field.value))
            }
            for field in added { values[field.name] = [squeezed(field.value[...])] }
            return values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { ($0.key, Array($0.value.joined(separator: [.comma]))) }
        }

        private static func squeezed(_ value: ArraySlice<UInt8>) -> [UInt8] {
            Array(value.split(whereSeparator: \.isBlank).joined(separator: [.space]))
        }

        /// The canonical path. S3 takes the path as it is, encoded once. Other services resolve dots and empty segments,
        /// and encode the path once more.
        private static func path(_ path: [UInt8], isS3: Bool) -> [UInt8] {
            if isS3 { return encoded(SignedRequest.decoded(path)) }
            var segments: [ArraySlice<UInt8>] = []
            for segment in path.split(separator: .slash) where !segment.elementsEqual([dot]) {
                if segment.elementsEqual([dot, dot]) { _ = segments.popLast() } else { segments.append(segment) }
            }
            let isFolder = path.last == .slash && !segments.isEmpty
            let joined = [.slash] + segments.joined(separator: [.slash]) + (isFolder ? [.slash] : [])
            return encoded(joined)
        }

        /// Encodes all but the unreserved characters of RFC 3986 and slashes, with capitals.
        private static func encoded(_ path: [UInt8]) -> [UInt8] {
            let segments = path.split(separator: .slash, omittingEmptySubsequences: false)
            return Array(segments.map { PercentEncoding.encode($0) }.joined(separator: [.slash]))
        }
    }
}
