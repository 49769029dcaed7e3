import TLS

extension Certificate {
    /// The name under which rules and logs know the client whose certificate this is: its SPIFFE ID (SPIFFE-ID section 2, in
    /// X509-SVID the only URI), else the subject's common name, else the first of the other names that is one.
    var userName: String? {
        let names = subjectAlternativeNames
        let identities = names.compactMap { if case .uri(let text) = $0, text.isSPIFFE { text } else { nil } }
        if identities.count == 1 { return identities[0] }
        if let commonName { return commonName }
        for name in names {
            switch name {
            case .email(let text), .uri(let text), .dns(let text): return text
            case .address(let address): return "\(address)"
            case .directory, .other: continue
            }
        }
        return nil
    }
}

extension String {
    fileprivate var isSPIFFE: Bool { utf8.starts(with: "spiffe://".utf8) }
}
