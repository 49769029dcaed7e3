import COpenSSL

/// Anchors that wait as bytes until a chain asks for their subject. To decode the 140 of a usual system takes 20 ms and
/// a megabyte, and few are ever needed.
final class AnchorIndex: Sendable {
    /// In DER, by the hash of the subject; what makes certificates of PEM "trusted" may follow.
    private let anchors: [UInt: [[UInt8]]]
    let count: Int

    /// Passes over what is no certificate, and what is there twice.
    init(_ certificates: [[UInt8]]) {
        var anchors: [UInt: [[UInt8]]] = [:]
        var count = 0
        for certificate in certificates {
            guard let hash = Self.hash(ofSubjectIn: certificate) else { continue }
            guard anchors[hash]?.contains(certificate) != true else { continue }
            anchors[hash, default: []].append(certificate)
            count += 1
        }
        self.anchors = anchors
        self.count = count
    }

    func contains(_ certificate: Certificate) -> Bool {
        let hash = X509_NAME_hash_ex(X509_get_subject_name(certificate.handle), nil, nil, nil)
        guard let candidates = anchors[hash] else { return false }
        let der = certificate.der
        return candidates.contains { $0.starts(with: der) }
    }

    /// Every anchor that may bear this subject, decoded.
    func certificates(named subject: OpaquePointer?) -> [Certificate] {
        (anchors[X509_NAME_hash_ex(subject, nil, nil, nil)] ?? []).compactMap { anchor in
            let decoded = anchor.withUnsafeBufferPointer { bytes in
                var next = bytes.baseAddress
                return d2i_X509_AUX(nil, &next, bytes.count)
            }
            ERR_clear_error()
            return decoded.map { Certificate(takingOwnership: $0) }
        }
    }

    /// RFC 5280 section 4.1: version, serial number, signature, issuer and validity come before the subject.
    private static func hash(ofSubjectIn certificate: [UInt8]) -> UInt? {
        var outer = DERElements(certificate[...])
        guard var parts = outer.next().map({ DERElements($0.content) }), let signed = parts.next() else { return nil }
        var fields = DERElements(signed.content)
        guard let first = fields.next() else { return nil }
        for _ in 0..<(first.tag == 0xA0 ? 4 : 3) where fields.next() == nil { return nil }
        guard let subject = fields.next()?.whole else { return nil }
        guard let name = DistinguishedName(der: Array(subject).span) else { return nil }
        return X509_NAME_hash_ex(name.handle, nil, nil, nil)
    }
}
