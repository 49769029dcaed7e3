import Bytes

/// A protection space of the practice origin: a path and everything below it.
enum PracticeSpace: CaseIterable {
    case basic
    case digest
    case digestSHA256

    var path: StaticString {
        switch self {
        case .basic: "/practice/basic"
        case .digest: "/practice/digest"
        case .digestSHA256: "/practice/digest-sha256"
        }
    }

    /// Each space has its own: the realm is what tells spaces of one origin apart.
    var realm: StaticString {
        switch self {
        case .basic: "practice basic"
        case .digest: "practice digest"
        case .digestSHA256: "practice digest-sha256"
        }
    }

    /// For people.
    var schemeName: StaticString {
        switch self {
        case .basic: "Basic"
        case .digest: "Digest (MD5)"
        case .digestSHA256: "Digest (SHA-256)"
        }
    }

    func contains(_ path: Span<UInt8>) -> Bool {
        let own = self.path
        let length = own.utf8CodeUnitCount
        guard path.count >= length, path.extracting(first: length).equals(own) else { return false }
        return path.count == length || path[length] == .slash
    }
}
