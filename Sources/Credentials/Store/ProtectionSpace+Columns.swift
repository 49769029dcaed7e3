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
        guard values.count == 6, let host = values[0].text,
            let port = values[1].integer.flatMap({ UInt16(exactly: $0) }),
            let kind = values[2].text.flatMap(NetworkProtocol.init(rawValue:)), let isProxy = values[3].integer,
            let realm = values[4].text, let method = values[5].text.flatMap(AuthenticationMethod.init(rawValue:))
        else { return nil }
        self.init(
            origin: Origin(host: host, port: port, protocol: kind, isProxy: isProxy != 0),
            realm: realm.isEmpty ? nil : String(realm.dropFirst()), authenticationMethod: method)
    }
}

extension StoredCredential {
    /// A row: the space's columns, user, default, sealed.
    init?(columns: [DatabaseValue]) {
        guard columns.count == 9, let space = ProtectionSpace(columns: columns[..<6]), let user = columns[6].text,
            let isDefault = columns[7].integer, let sealed = columns[8].bytes
        else { return nil }
        self.init(space: space, user: user, isDefault: isDefault != 0, sealed: sealed)
    }
}
