import Authentication
import Credentials
import Crypto

/// The credential store in the hands of a person. Every call blocks.
struct StoreEditing {
    private let store: CredentialStore

    /// Opens it, or makes an empty one.
    init(_ place: CredentialStorePlace) throws(CommandError) {
        do throws(CredentialStoreError) {
            store = try place.open(
                environment: Environment.all, fingerprintKey: CredentialFingerprint.use, report: { Console.error($0) })
        } catch { throw .failed("\(error)") }
    }

    /// A line for each credential, `*` before the one of its space that is used.
    func list() {
        let rows = store.entries.map { entry in
            let space = entry.space
            let realm = space.realm.map { " \"\(Console.printable($0))\"" } ?? ""
            return (
                "\(entry.isDefault ? "*" : " ") \(Console.printable(entry.user))",
                "\(space.authenticationMethod.rawValue)\(realm) of \(space.isProxy ? "the proxy " : "")"
                    + "\(space.protocol.rawValue)://\(space.host.contains(":") ? "[\(space.host)]" : space.host)"
                    + ":\(space.port)"
            )
        }
        let width = rows.map(\.0.count).max() ?? 0
        for (user, space) in rows.sorted(by: { ($0.1, $0.0.dropFirst()) < ($1.1, $1.0.dropFirst()) }) {
            Console.print("\(user)\(String(repeating: " ", count: width - user.count))  \(space)")
        }
    }

    /// - Parameter isDefault: nil: where the space has none.
    func set(
        _ user: String, _ password: Secret, for space: ProtectionSpace, asDefault isDefault: Bool?
    ) throws(CommandError) {
        let hasDefault = store.entries.contains { $0.space == space && $0.isDefault }
        let credential = Credential(
            name: space.credentialName(of: user), user: user, password: password, persistence: .permanent)
        try change { () throws(CredentialStorageError) in
            try store.put(credential, for: space, asDefault: isDefault ?? !hasDefault)
        }
    }

    func remove(_ user: String, for space: ProtectionSpace) throws(CommandError) {
        _ = try present(user, for: space)
        try change { () throws(CredentialStorageError) in try store.remove(user: user, for: space) }
    }

    func makeDefault(_ user: String, for space: ProtectionSpace) throws(CommandError) {
        let credential = try present(user, for: space)
        try change { () throws(CredentialStorageError) in try store.put(credential, for: space, asDefault: true) }
    }

    private func present(_ user: String, for space: ProtectionSpace) throws(CommandError) -> Credential {
        if let credential = store.credential(of: user, for: space) { return credential }
        throw .failed("there is no such credential; 'attache credential list' shows those that are")
    }

    private func change(_ body: () throws(CredentialStorageError) -> Void) throws(CommandError) {
        do throws(CredentialStorageError) { try body() } catch { throw .failed("\(error)") }
    }
}
