import COpenSSL

extension CertificateAuthority {
    /// How long an authority that we make is valid, in seconds: five years. Long enough that nobody hands out a new one
    /// every year, short enough that a key that was copied unseen does not open everything for ever.
    public static let lifetime = 5 * 365 * 86400

    /// A new authority with a new key (ECDSA, P-256), for servers' certificates only.
    ///
    /// - Parameters:
    ///   - host: whose it is, so that a person who meets it in a trust store knows where it came from.
    ///   - names: all that it may ever speak for; empty: no constraint.
    ///   - now: seconds since 1970.
    public static func make(
        host: String, names: [NameConstraint] = [], at now: Int
    ) throws(AuthorityError) -> CertificateAuthority {
        try CertificateAuthority(selfSigned(host: host, names: names, at: now), at: now)
    }

    /// Whether the authority is constrained to just these names.
    public func speaks(for names: [NameConstraint]) -> Bool {
        identity.leaf.content(of: NID_name_constraints)
            == (names.isEmpty ? nil : CertificateExtension.nameConstraints(names).content)
    }

    private static func selfSigned(
        host: String, names: [NameConstraint], at now: Int
    ) throws(AuthorityError) -> Identity {
        do throws(IdentityError) {
            let key = try PrivateKey.generate()
            let identifier = try key.identifier()
            var extensions: [CertificateExtension] = [
                .basicConstraints(isAuthority: true), .keyUsage([.keyCertSign, .cRLSign]), .serverAuthentication,
                .subjectKeyIdentifier(identifier),
            ]
            if !names.isEmpty { extensions.append(.nameConstraints(names)) }
            let draft = CertificateDraft(
                subject: .commonName(commonName(host: host, day: CertificateTime.date(now), identifier: identifier)),
                issuer: nil,
                publicKey: key,
                notBefore: now - clockSkew, notAfter: now + lifetime, extensions: extensions)
            guard let certificate = draft.signed(by: key) else { throw .outOfMemory }
            return Identity(leaf: certificate, intermediates: [], key: key)
        } catch { throw .identity(error) }
    }

    /// `attache on HOST DAY KEY`: the key's first digits make two of one day different names, as issuers must be.
    private static func commonName(host: String, day: String, identifier: [UInt8]) -> String {
        let digits = identifier.prefix(4).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let (start, end) = ("attache on ", " \(day) \(digits)")
        let printable = host.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        let room = CertificateDraft.nameLimit - start.utf8.count - end.utf8.count
        return start + String(String.UnicodeScalarView(printable)).prefix(max(0, room)) + end
    }
}
