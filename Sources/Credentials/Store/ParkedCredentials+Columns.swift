import Authentication
import Database

extension ParkedCredentials.Entry {
    /// The space's columns, name, fingerprint.
    var columns: [DatabaseValue] {
        space.columns + [.text(version.name), .bytes(version.fingerprintBytes)]
    }

    init?(columns: [DatabaseValue]) {
        guard columns.count == 8, let space = ProtectionSpace(row: columns), let name = columns[6].text,
            let version = CredentialVersion(name: name, fingerprint: columns[7].bytes ?? [])
        else { return nil }
        self.init(space: space, version: version)
    }
}

extension CredentialVersion {
    /// - Parameter fingerprint: as `fingerprintBytes`.
    init?(name: String, fingerprint: [UInt8]) {
        guard fingerprint.count == 16 else { return nil }
        self.init(name: name, fingerprint: fingerprint.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
    }

    /// Most significant byte first.
    var fingerprintBytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: fingerprint >> UInt128($0)) }
    }
}
