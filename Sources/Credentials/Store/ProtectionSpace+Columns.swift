import Authentication
import Database

extension ProtectionSpace {
    /// The space as columns: host, port, protocol, proxy, realm, method.
    var columns: [DatabaseValue] {
        [
            .text(host), .integer(Int64(port)), .text(`protocol`.rawValue), .integer(isProxy ? 1 : 0),
            .text(realm.map { "=\($0)" } ?? ""), .text(authenticationMethod.rawValue),
        ]
    }

    init?(columns: ArraySlice<DatabaseValue>) {
        let values = Array(columns)
        guard values.count == 6 else { return nil }
        self.init(
            host: values[0].text, port: values[1].integer, protocol: values[2].text, isProxy: values[3].integer,
            realm: values[4].text, method: values[5].text)
    }

    /// Of a row that begins with them.
    init?(row: some DatabaseRow) {
        self.init(
            host: row.text(0), port: row.integer(1), protocol: row.text(2), isProxy: row.integer(3), realm: row.text(4),
            method: row.text(5))
    }

    private init?(host: String?, port: Int64?, protocol: String?, isProxy: Int64?, realm: String?, method: String?) {
        guard let host, let port = port.flatMap({ UInt16(exactly: $0) }),
            let kind = `protocol`.flatMap(NetworkProtocol.init(rawValue:)), let isProxy, let realm,
            let method = method.flatMap(AuthenticationMethod.init(rawValue:))
        else { return nil }
        self.init(
            origin: Origin(host: host, port: port, protocol: kind, isProxy: isProxy != 0),
            realm: realm.isEmpty ? nil : String(realm.dropFirst()), authenticationMethod: method)
    }
}

extension StoredCredential {
    /// Of a row: the space's columns, user, default, sealed.
    init?(row: some DatabaseRow) {
        guard let space = ProtectionSpace(row: row), let user = row.text(6), let isDefault = row.integer(7),
            let sealed = row.bytes(8)
        else { return nil }
        self.init(space: space, user: user, isDefault: isDefault != 0, sealed: sealed)
    }

    init?(columns: [DatabaseValue]) {
        guard columns.count == 9, let space = ProtectionSpace(columns: columns[..<6]), let user = columns[6].text,
            let isDefault = columns[7].integer, let sealed = columns[8].bytes
        else { return nil }
        self.init(space: space, user: user, isDefault: isDefault != 0, sealed: sealed)
    }
}
