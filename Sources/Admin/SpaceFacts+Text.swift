import Authentication
import Challenges

/// The facts about a space as the control socket tells them.
extension SpaceFacts {
    /// A line each: its kind, and behind a tabulator what it is.
    func lines(at now: Int) -> String {
        var lines = sentences.map { "fact\t\($0)" }
        if let stored { lines.append("stored\t\(stored)") }
        for (entry, term) in parked where !term.isDue(at: now) {
            lines.append("refused\t\(entry.version.name)\t\(term.end)")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    func json(at now: Int) -> String {
        var json = JSONText()
        json.object { json in
            json.member("stored", stored)
            json.member("facts", sentences)
            json.member("refused", parked.filter { !$0.1.isDue(at: now) }.map(\.0.version.name))
        }
        return json.text
    }

    /// About the origin, and the target.
    private var sentences: [String] {
        var sentences: [String] = []
        if let covering, !accepted.isEmpty {
            let realm = covering.realm.map { " realm \"\($0)\"" } ?? ""
            sentences.append(
                "\(covering.authenticationMethod)\(realm) covers the target and has accepted "
                    + "\(accepted.joined(separator: ", ")): an answer goes unasked, unless its rule says 'preempt no'")
        } else if isOpen {
            sentences.append("where the target lies nothing was asked for when it was last seen")
        }
        for (entry, term) in parked { sentences.append("\(entry.words), \(term.words)") }
        sentences.append(isServed ? "something is stored for this server" : "nothing is stored for this server")
        return sentences
    }
}

extension ParkedCredentials.Term {
    /// Whether one request may send it again by now.
    fileprivate func isDue(at now: Int) -> Bool { nextTry.map { $0 <= now } ?? false }

    fileprivate var end: String { nextTry.map { "before \(AdminTime.text($0))" } ?? "until its value is set anew" }
}
