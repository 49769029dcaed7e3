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
        let sent = value.extracting(response)
        let expected = response(key, value: value, method: method, target: target)
        return expected.withHexadecimal { expected in
            guard sent.count == expected.count else { return false }
            // Digits in upper case mean the same.
            let lowercased = InlineArray<64, UInt8> { $0 < sent.count ? sent[$0].asciiLowercased : 0 }
            return ConstantTime.equal(lowercased.span.extracting(first: sent.count), expected)
        }
    }

    /// Appends what proves to the client that the password is known here as well: the value of
    /// `Proxy-Authentication-Info` (section 3.5), without a word about the next nonce. The parameters are those of
    /// `proves`, which came to true.
    public func appendProof(
        _ key: DigestValue, value: Span<UInt8>, target: Span<UInt8>, to buffer: ByteBuffer
    ) {
        buffer.append("rspauth=\"" as StaticString)
        response(key, value: value, method: Span(), target: target).withHexadecimal { buffer.append($0) }
        // Neither has a quote in it, nor anything that was escaped.
        buffer.append("\", qop=auth, cnonce=\"" as StaticString)
        buffer.append(value.extracting(clientNonce))
        buffer.append("\", nc=" as StaticString)
        buffer.append(value.extracting(countText))
    }

    private func response(
        _ key: DigestValue, value: Span<UInt8>, method: Span<UInt8>, target: Span<UInt8>
    ) -> DigestValue {
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
        return digest.finish()
    }
}
