import TLS

extension Certificate {
    /// Under which name rules and logs know the client whose certificate this is: the subject's common name, else the
    /// first of the other names that is one.
    var userName: String? {
        if let commonName { return commonName }
        for name in subjectAlternativeNames {
            switch name {
            case .email(let text), .uri(let text), .dns(let text): return text
            case .address(let address): return "\(address)"
            case .directory, .other: continue
            }
        }
        return nil
    }
}
