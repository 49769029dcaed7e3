import Authentication
import Database
import Model

extension ProtectionSpace {
    /// The space as columns: host, port, protocol, proxy, realm, method.
    var columns: [DatabaseValue] {
        [
            .text(host), .integer(Int64(port)), .text(`protocol`.rawValue), .integer(isProxy ? 1 : 0),
            .text(realm.map { "=\($0)" } ?? ""), .text(authenticationMethod.rawValue),
        ]
    }

    /// The space of a row that begins with these columns; its host may have any spelling.
    init?(row: some DatabaseRow) {
        guard let host = row.text(0), let port = row.integer(1).flatMap({ UInt16(exactly: $0) }),
            let kind = row.text(2).flatMap(NetworkProtocol.init(rawValue:)), let isProxy = row.integer(3),
            let realm = row.text(4), realm.isEmpty || realm.utf8.first == UInt8(ascii: "="),
            let method = row.text(5).flatMap(AuthenticationMethod.init(rawValue:))
        else { return nil }
        self.init(
            origin: Origin(host: host, port: port, protocol: kind, isProxy: isProxy != 0),
            // The first byte, not the first character: a combining mark at the start of a realm joins the `=`.
            realm: realm.isEmpty ? nil : String(Substring(realm.utf8.dropFirst())), authenticationMethod: method)
    }

    /// The space of a row with the canonical spelling of its host. Rows of earlier versions with another spelling,
    /// refusals or learned spaces, are learned again.
    init?(canonicalRow row: some DatabaseRow) {
        self.init(row: row)
        guard row.text(0)?.utf8.elementsEqual(host.utf8) == true else { return nil }
    }

    /// A sentence about the first column that keeps a row from being a space.
    fileprivate static func fault(of row: some DatabaseRow) -> String {
        for (column, name) in ["host", "port", "protocol", "proxy", "realm", "method"].enumerated()
        where column != 1 && column != 3 && row.text(column) == nil {
            return "its \(name) is not UTF-8 text"
        }
        if row.integer(1).flatMap({ UInt16(exactly: $0) }) == nil { return "its port is '\(word(row, 1))'" }
        if row.text(2).flatMap(NetworkProtocol.init(rawValue:)) == nil { return "its protocol is '\(word(row, 2))'" }
        if row.text(5).flatMap(AuthenticationMethod.init(rawValue:)) == nil {
            return "its method is '\(word(row, 5))', which only a later version of this program may know"
        }
        return "its realm or its kind of server is not valid"
    }

    private static func word(_ row: some DatabaseRow, _ column: Int) -> String { String(row.words(column).prefix(40)) }
}

extension StoredCredential {
    /// Reads a row: the space's columns, user, default, sealed, kind.
    init(row: some DatabaseRow) throws(StoredCredential.Unreadable) {
        guard let space = ProtectionSpace(row: row) else {
            throw StoredCredential.Unreadable(row, ProtectionSpace.fault(of: row))
        }
        guard let user = row.text(6) else { throw StoredCredential.Unreadable(row, "its user is not UTF-8 text") }
        guard let isDefault = row.integer(7), let sealed = row.bytes(8) else {
            throw StoredCredential.Unreadable(
                row, "its content was not written by this program", place: StoredCredential.Place(row: row))
        }
        guard row.text(9) == space.authenticationMethod.storedKind.rawValue else {
            throw StoredCredential.Unreadable(
                row, "its kind is '\(row.words(9).prefix(40))', which only a later version of this program may know",
                place: StoredCredential.Place(row: row))
        }
        self.init(space: space, spelled: row.text(0), user: user, isDefault: isDefault != 0, sealed: sealed)
    }
}

extension StoredCredential.Place {
    /// The place of a row: the space's columns, user. Nil for a row with another spelling of its host, which cannot be
    /// found by its place.
    init?(row: some DatabaseRow) {
        guard let space = ProtectionSpace(canonicalRow: row), let user = row.text(6) else { return nil }
        self.init(space: space, user: user)
    }
}

extension CredentialVersion {
    /// - Parameter fingerprint: in the form of `fingerprintBytes`.
    convenience init?(name: String, fingerprint: [UInt8], isGrant: Bool = false) {
        guard fingerprint.count == 16 else { return nil }
        let bits = fingerprint.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self.init(name: name, fingerprint: bits, isGrant: isGrant)
    }

    /// The bytes of the fingerprint, most significant first.
    var fingerprintBytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: fingerprint >> UInt128($0)) }
    }
}
