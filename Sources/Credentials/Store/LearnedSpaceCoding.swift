import Authentication

/// What was learned of a space as bytes of a row: pieces, each behind its length in two bytes.
enum LearnedSpaceCoding {
    /// Longer paths are not remembered.
    private static let pathLimit = 1024

    /// No prefix at all stands for the whole origin.
    static func bytes(of extents: [Extent]) -> [UInt8] {
        var prefixes: [[UInt8]] = []
        for extent in extents {
            switch extent {
            case .origin: return []
            case .prefixes(let more): prefixes += more
            }
        }
        // Without those that are too long the space would be the whole origin.
        let short = prefixes.filter { $0.count <= pathLimit }
        return joined(short.isEmpty && !prefixes.isEmpty ? [[]] : short)
    }

    static func extents(in bytes: [UInt8]) -> [Extent]? {
        guard let pieces = pieces(in: bytes) else { return nil }
        if pieces.isEmpty { return [.origin] }
        // Nothing but the empty path: it reaches nowhere that is known.
        return pieces.filter { !$0.isEmpty }.map { .prefixes([$0]) }
    }

    static func bytes(of versions: [CredentialVersion]) -> [UInt8] {
        joined(versions.map { $0.fingerprintBytes + Array($0.name.utf8) }.filter { $0.count <= pathLimit })
    }

    static func versions(in bytes: [UInt8]) -> [CredentialVersion]? {
        pieces(in: bytes)?.compactMap { piece in
            guard let name = String(validating: piece.dropFirst(16), as: UTF8.self) else { return nil }
            return CredentialVersion(name: name, fingerprint: Array(piece.prefix(16)))
        }
    }

    private static func joined(_ pieces: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces {
            bytes.append(UInt8(truncatingIfNeeded: piece.count >> 8))
            bytes.append(UInt8(truncatingIfNeeded: piece.count))
            bytes += piece
        }
        return bytes
    }

    private static func pieces(in bytes: [UInt8]) -> [[UInt8]]? {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count >= count else { return nil }
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
