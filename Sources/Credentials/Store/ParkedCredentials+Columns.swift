import Authentication
import Database

extension ParkedCredentials.Entry {
    /// The space's columns, name, fingerprint.
    var columns: [DatabaseValue] {
        space.columns + [.text(version.name), .bytes(version.fingerprintBytes)]
    }

    init?(columns: [DatabaseValue]) {
        guard columns.count == 8, let space = ProtectionSpace(columns: columns[..<6]), let name = columns[6].text,
            let bytes = columns[7].bytes, bytes.count == 16
        else { return nil }
        let fingerprint = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self.init(space: space, version: CredentialVersion(name: name, fingerprint: fingerprint))
    }
}

extension CredentialVersion {
    /// Most significant byte first.
    var fingerprintBytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: fingerprint >> UInt128($0)) }
    }
}
