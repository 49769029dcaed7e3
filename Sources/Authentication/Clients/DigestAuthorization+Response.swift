import Bytes
import Crypto

extension DigestAuthorization {
    /// Whether the response is that of somebody who knows the password (section 3.4.1). The comparison takes the same
    /// time whatever it finds.
    /// - Parameters:
    ///   - key: the digest over user, realm and password.
    ///   - value: what this was read from.
    ///   - target: the client's `uri`, which the caller has held against the request.
    public func proves(
        _ key: DigestValue, value: Span<UInt8>, method: Span<UInt8>, target: Span<UInt8>
    ) -> Bool {
        var request = MessageDigest(algorithm)
        request.update(method)
        request.update(":")
        request.update(target)
        var digest = MessageDigest(algorithm)
        key.withHexadecimal { digest.update($0) }
        digest.update(":")
        digest.update(value.extracting(nonce))
        digest.update(":")
        digest.update(value.extracting(countText))
        digest.update(":")
        digest.update(value.extracting(clientNonce))
        digest.update(":auth:")
        request.finish().withHexadecimal { digest.update($0) }
        let sent = value.extracting(response)
        let expected = digest.finish()
        return expected.withHexadecimal { expected in
            guard sent.count == expected.count else { return false }
            // Digits in upper case mean the same.
            let lowercased = InlineArray<64, UInt8> { $0 < sent.count ? sent[$0].asciiLowercased : 0 }
            return ConstantTime.equal(lowercased.span.extracting(first: sent.count), expected)
        }
    }
}
