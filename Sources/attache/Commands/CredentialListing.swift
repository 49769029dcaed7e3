import Authentication
import Model

/// Credentials as a list shows them: no secret.
enum CredentialListing {
    struct Row {
        let space: ProtectionSpace
        let user: String
        let isDefault: Bool
        /// Stands before it, in a column of its own.
        var state = ""
    }

    /// A line for each credential, `*` before the one of its space that is used.
    static func show(_ rows: [Row]) {
        let lines = rows.map { row in
            (
                state: row.state, user: "\(row.isDefault ? "*" : " ") \(Console.printable(row.user))",
                space: words(for: row.space)
            )
        }
        let (states, users) = (lines.map(\.state.count).max() ?? 0, lines.map(\.user.count).max() ?? 0)
        for line in lines.sorted(by: { ($0.space, $0.user.dropFirst()) < ($1.space, $1.user.dropFirst()) }) {
            let state = states == 0 ? "" : "\(padded(line.state, to: states))  "
            Console.print("\(state)\(padded(line.user, to: users))  \(line.space)")
        }
    }

    private static func words(for space: ProtectionSpace) -> String {
        let method = space.authenticationMethod == .default ? "any method" : space.authenticationMethod.rawValue
        let realm = space.realm.map { " \"\(Console.printable($0))\"" } ?? ""
        let name = Console.printable(space.host)
        let host = name.contains(":") ? "[\(name)]" : name
        let server = "\(space.protocol.rawValue)://\(host):\(space.port)"
        return "\(method)\(realm) of \(space.isProxy ? "the proxy " : "")\(server)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: width - text.count)
    }
}
