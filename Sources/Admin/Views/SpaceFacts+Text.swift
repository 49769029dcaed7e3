import Authentication
import Bytes
import Challenges

/// The facts about a space, for the control socket.
extension SpaceFacts {
    /// A line for each fact: its kind, a tabulator, and its text.
    func lines(at now: WallTime) -> String {
        var lines = sentences.map { "fact\t\($0)" }
        if let stored { lines.append("stored\t\(stored)") }
        lines += refused.map { "refused\t\($0.name)\t\(Self.words(until: $0.end))" }
        return lines.map { $0 + "\n" }.joined()
    }

    func json(at now: WallTime) -> String {
        JSONText.document { json in
            json.member("stored", stored)
            json.member("facts", sentences)
            json.member("refused", refused.map(\.name))
        }
    }

    /// The sentences about the origin and the target.
    private var sentences: [String] {
        var sentences: [String] = []
        if let covering, !accepted.isEmpty {
            let realm = covering.realm.map { " realm \"\($0)\"" } ?? ""
            sentences.append(
                "\(covering.authenticationMethod)\(realm) covers the target and has accepted "
                    + "\(accepted.joined(separator: ", ")): it is sent preemptively, unless its rule says 'preempt no'")
        } else if isOpen {
            sentences.append("the server did not ask for a login below this path when it was last seen")
        }
        // A refusal by another server only is no fact about this one.
        for (name, standing, reason) in held where standing.state != .unproven || reason != nil {
            sentences.append("\(name) is \(standing.words)\(reason.map { ": it \($0)" } ?? "")")
        }
        sentences.append(isServed ? "something is stored for this server" : "nothing is stored for this server")
        return sentences
    }

    private static func words(until end: WallTime) -> String {
        end == .distantFuture ? "until you set its value again" : "before \(AdminTime.text(end))"
    }
}
