import Authentication
import Bytes
import Crypto
import Model

/// A store's credentials in a file, each sealed with a key that is not the store's: JSON objects (RFC 8259), one per
/// line. The first line names the kind of the file and the key:
///
///     {"attache":"credentials","version":1,"key":"ID","sealed":"BASE64"}
///     {"protocol":"https","host":"www.example.com","port":443,"proxy":"no","realm":"Staff","method":"basic",
///      "user":"bob","default":"yes","sealed":"BASE64"}
///
/// (The second is one line too; a space without a realm has no member of that name.) A sealed box is bound to its space
/// and user, as in the store, so no box can be moved to another line. The first line's box contains the number of
/// credentials. So a truncated file, or a wrong key, is detected before anything is imported.
public enum SealedCredentials {
    private static let format: StaticString = "credentials"
    private static let context = Array("attache credentials export".utf8)

    public static func write(
        _ credentials: [CredentialStore.Entry], sealedWith key: SealingKey
    ) throws(CryptoError) -> String {
        let count = try key.seal(Secret(String(credentials.count)), for: context.span)
        var lines = [
            "{\"attache\":\"\(format)\",\"version\":1,\"key\":\"\(key.id)\","
                + "\"sealed\":\"\(Base64.encode(count))\"}\n"
        ]
        for kept in credentials {
            let row = try StoredCredential(
                kept.credential, for: kept.space, isDefault: kept.isDefault, sealedWith: key)
            guard let row else { continue }
            let space = row.space
            let realm = space.realm.map { "\"realm\":\(quoted($0))," } ?? ""
            lines.append(
                "{\"protocol\":\"\(space.protocol.rawValue)\",\"host\":\(quoted(space.host)),\"port\":\(space.port),"
                    + "\"proxy\":\"\(space.isProxy ? "yes" : "no")\",\(realm)"
                    + "\"method\":\"\(space.authenticationMethod.rawValue)\",\"user\":\(quoted(row.user)),"
                    + "\"default\":\"\(row.isDefault ? "yes" : "no")\",\"sealed\":\"\(Base64.encode(row.sealed))\"}\n")
        }
        return lines.joined()
    }

    /// - Throws: the problem with the file or the key; nothing is imported then.
    public static func read(
        _ text: Span<UInt8>, openedWith key: SealingKey
    ) throws(CredentialFileKind.Problem) -> [CredentialStore.Entry] {
        var credentials: [CredentialStore.Entry] = []
        var expected: Int?
        var (start, line) = (0, 1)
        while start < text.count {
            let end = text.firstIndex(of: .lineFeed, from: start) ?? text.count
            let content = text.extracting(start..<end).array
            if let expected {
                guard credentials.count < expected else {
                    throw CredentialFileKind.Problem(line: line, "there is text after the last credential")
                }
                credentials.append(try credential(content, line: line, key))
            } else {
                expected = try count(content, key)
            }
            start = end + 1
            line += 1
        }
        guard let expected, credentials.count == expected else {
            throw CredentialFileKind.Problem(
                line: nil, "the file was cut short: \(credentials.count) of \(expected ?? 0) credentials are there")
        }
        return credentials
    }

    private static func count(_ line: [UInt8], _ key: SealingKey) throws(CredentialFileKind.Problem) -> Int {
        guard let members = JSONMembers(line), let kind = members.text("attache"), kind.span.equals(format),
            members["version"] == .number(1), let id = members.text("key"),
            let sealed = members.text("sealed").flatMap({ Base64.decode($0.span.text) })
        else {
            throw CredentialFileKind.Problem(line: 1, "this is not the first line of 'attache credential export'")
        }
        guard id.span.text == key.id else {
            throw CredentialFileKind.Problem(
                line: 1, "the file is encrypted under the key \(id.span.text), but the given key is \(key.id)")
        }
        let opened = try? key.open(sealed.span, for: context.span)
        guard let count = opened.flatMap({ $0.withBytes { Int($0.text) } }) else {
            throw CredentialFileKind.Problem(line: 1, "the line was changed after it was written")
        }
        return count
    }

    private static func credential(
        _ line: [UInt8], line number: Int, _ key: SealingKey
    ) throws(CredentialFileKind.Problem) -> CredentialStore.Entry {
        guard let members = JSONMembers(line), let row = row(members) else {
            throw CredentialFileKind.Problem(line: number, "this is not a line of 'attache credential export'")
        }
        guard let credential = try? row.credential(openedWith: key) else {
            throw CredentialFileKind.Problem(line: number, "the line was changed after it was written")
        }
        return CredentialStore.Entry(credential, for: row.space, isDefault: row.isDefault)
    }

    private static func row(_ members: JSONMembers) -> StoredCredential? {
        let text = { (name: String) in members.text(name).flatMap { String(validating: $0, as: UTF8.self) } }
        guard case .number(let port)? = members["port"], let port = UInt16(exactly: port), let host = text("host"),
            let kind = text("protocol").flatMap(NetworkProtocol.init(rawValue:)), let user = text("user"),
            let method = text("method").flatMap(AuthenticationMethod.init(rawValue:)),
            let sealed = text("sealed").flatMap({ Base64.decode($0) })
        else { return nil }
        let origin = Origin(host: host, port: port, protocol: kind, isProxy: text("proxy") == "yes")
        return StoredCredential(
            space: ProtectionSpace(origin: origin, realm: text("realm"), authenticationMethod: method), spelled: host,
            user: user, isDefault: text("default") == "yes", sealed: sealed)
    }

    /// A text as a JSON string.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
