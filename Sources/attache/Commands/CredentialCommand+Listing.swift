import Admin
import Authentication
import Model
import Upstream

extension CredentialCommand {
    /// Lists the credentials of an import, without their secrets.
    enum Listing {
        struct Row {
            let space: ProtectionSpace
            let name: String
            let isDefault: Bool
            /// The last day on which it is valid, if known.
            var lastDay: Day?
            /// The text before it, in its own column.
            var state = ""
        }

        /// Prints a line for each credential, with `*` before the default of its space.
        static func show(_ rows: [Row]) {
            let lines = rows.map { row in
                (
                    state: row.state, name: "\(row.isDefault ? "*" : " ") \(Console.printable(row.name))",
                    kind: row.space.authenticationMethod.storedKind.rawValue,
                    space: row.space.words + words(for: row.lastDay)
                )
            }
            let width = { (column: [String]) in column.map(\.count).max() ?? 0 }
            let (states, names, kinds) = (width(lines.map(\.state)), width(lines.map(\.name)), width(lines.map(\.kind)))
            for line in lines.sorted(by: { ($0.space, $0.name.dropFirst()) < ($1.space, $1.name.dropFirst()) }) {
                let state = states == 0 ? "" : "\(padded(line.state, to: states))  "
                Console.print("\(state)\(padded(line.name, to: names))  \(padded(line.kind, to: kinds))  \(line.space)")
            }
        }

        private static func words(for lastDay: Day?) -> String {
            guard let lastDay else { return "" }
            return lastDay < .today ? ", expired on \(lastDay)" : ", until \(lastDay)"
        }

        private static func padded(_ text: String, to width: Int) -> String {
            text + String(repeating: " ", count: width - text.count)
        }
    }
}
