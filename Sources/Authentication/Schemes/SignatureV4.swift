import Bytes
import Crypto

/// Signs requests by AWS Signature Version 4 (`AWS4-HMAC-SHA256`). There is no challenge and no session: every request
/// that goes to the service carries a signature of its own, over what it asks and when.
public struct SignatureV4: Sendable {
    public let key: SigningKey

    public init(_ key: SigningKey) { self.key = key }

    /// - Parameters:
    ///   - head: request line and fields as they are sent, each line ended, without the empty line and without any of
    ///     `SignedFields`.
    ///   - time: milliseconds since 1970-01-01T00:00:00Z.
    public func fields(for head: Span<UInt8>, payload: SignedPayload, at time: Int) -> SignedFields {
        let date = Self.basicFormat(time)
        var added = [
            (name: "x-amz-content-sha256", value: Array(payload.text.utf8)),
            (name: "x-amz-date", value: Array(date.utf8)),
        ]
        if let token = key.sessionToken {
            added.append((name: "x-amz-security-token", value: token.withBytes { $0.array }))
        }
        let request = CanonicalRequest(
            head: head, adding: added, payload: payload.text, isS3: key.isS3, signs: Self.isSigned)
        return SignedFields(
            date: date, payload: payload.text, token: key.sessionToken,
            authorization: authorization(for: request, date: date))
    }

    /// What changes the meaning of a request to a service, and no more: other fields change on the way.
    private static func isSigned(_ name: String) -> Bool {
        name == "host" || name == "content-type" || name == "content-md5" || name.hasPrefix("x-amz-")
    }

    func authorization(for request: CanonicalRequest, date: String) -> String {
        let day = String(date.prefix(8))
        let scope = "\(day)/\(key.region)/\(key.service)/aws4_request"
        let digest = MessageDigest.digest(.sha256, of: request.bytes.span)
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(digest.withHexadecimal { $0.text })"
        let signature = MessageAuthenticationCode(key: signingKey(for: day)).code(of: text.utf8Span.span)
        return "AWS4-HMAC-SHA256 Credential=\(key.accessKey)/\(scope), SignedHeaders=\(request.signedNames), "
            + "Signature=\(signature.withHexadecimal { $0.text })"
    }

    /// The key of one day, region and service.
    func signingKey(for day: String) -> DigestValue {
        var first: [UInt8] = []
        first.reserveCapacity(4 + key.secretKey.count)
        first += "AWS4".utf8
        key.secretKey.withBytes { bytes in
            for offset in 0..<bytes.count { first.append(bytes[offset]) }
        }
        let secret = Secret(wiping: &first)
        return [key.region, key.service, "aws4_request"].reduce(
            MessageAuthenticationCode(key: secret).code(of: day.utf8Span.span)
        ) { code, text in MessageAuthenticationCode(key: code).code(of: text.utf8Span.span) }
    }

    /// `20150830T123600Z`: the basic format of ISO 8601.
    static func basicFormat(_ epochMilliseconds: Int) -> String {
        let time = CivilTime(epochSeconds: epochMilliseconds / 1000)
        let digits = { (value: Int) in value < 10 ? "0\(value)" : String(value) }
        return "\(time.year)" + digits(time.month) + digits(time.day) + "T" + digits(time.hour) + digits(time.minute)
            + digits(time.second) + "Z"
    }
}
