import Authentication
import Bytes
import Challenges
import Model

/// The journal of challenges for people: what needs them first.
enum ChallengeTable {
    static func text(_ entries: [JournalEntry]) -> String {
        let unanswered = entries.filter { !$0.isAnswered }
        let answered = entries.filter(\.isAnswered)
        var text = ""
        if !unanswered.isEmpty { text += "not answered\n\n" + unanswered.map(paragraph).joined(separator: "\n") }
        if !answered.isEmpty {
            text += (text.isEmpty ? "" : "\n") + "answered\n\n" + answered.map(paragraph).joined()
        }
        return text
    }

    private static func paragraph(_ entry: JournalEntry) -> String {
        let times = entry.count == 1 ? "once" : "\(entry.count) times"
        var lines = ["  \(title(entry)): \(times), last \(AdminTime.text(entry.last))"]
        if entry.isAnswered {
            let rule = entry.rule.map { " by rule \($0)" } ?? ""
            lines.append("    \(answer(entry))\(rule)")
        } else {
            lines.append("    \(entry.reason ?? "nobody knows why")")
            // Those of a response are in its title.
            if !entry.key.space.authenticationMethod.isOfResponses { lines += entry.lines.map { "      \($0)" } }
            lines += entry.rules.map { "      \($0)" }
            if let suggestion = entry.suggestion {
                lines += ["    to have it answered, put into the rule file:"]
                lines += suggestion.split(separator: "\n").map { "      \($0)" }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func answer(_ entry: JournalEntry) -> String {
        if entry.key.space.authenticationMethod == .serverTrust {
            return "trusted" + (entry.credential.map { " by a \($0)" } ?? "")
        }
        return entry.credential.map { "credential \($0)" } ?? "no credential"
    }

    private static func title(_ entry: JournalEntry) -> String {
        let space = entry.key.space
        if entry.outcome == .unseen { return space.origin.words }
        let realm = space.realm.map { " \"\($0)\"" } ?? ""
        return "\(entry.key.scheme.isEmpty ? "no challenge" : entry.key.scheme)\(realm) of \(space.origin.words)"
    }
}

extension Origin {
    /// For people: as a URL.
    public var words: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return
            "\(isProxy ? "the proxy " : "")\(`protocol` == .socks ? "socks5" : `protocol`.rawValue)://\(name):\(port)"
    }
}

extension ParkedCredentials.Entry {
    /// For people: the credential, and where it was refused.
    public var words: String {
        let realm = space.realm.map { " \"\($0)\"" } ?? ""
        return "\(version.name), refused for \(space.authenticationMethod)\(realm) of \(space.origin.words)"
    }

    /// Whether it is that user's, or has that name.
    public func isOf(user: String) -> Bool {
        version.name == user || space.user(ofCredentialNamed: version.name) == user
    }
}

extension ParkedCredentials.Entry {
    /// Whether it was refused by that server, as an origin or as a proxy.
    public func isAt(_ origin: Origin) -> Bool {
        let own = space.origin
        return own.host == origin.host && own.port == origin.port && own.protocol == origin.protocol
    }
}

extension ParkedCredentials.Term {
    /// For people: since when, and until when. A refusal of an earlier version of this program has no time.
    public var words: String {
        let since = since > 0 ? "since \(AdminTime.text(since)), " : ""
        guard let nextTry else { return "\(since)until its value is set anew" }
        return "\(since)next try \(AdminTime.text(nextTry))"
    }
}

/// Times on pages.
enum AdminTime {
    /// - Parameter milliseconds: since 1970.
    static func text(_ milliseconds: Int) -> String {
        let time = CivilTime(epochSeconds: milliseconds / 1000)
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(time.year)-\(two(time.month))-\(two(time.day))T\(two(time.hour)):\(two(time.minute)):\(two(time.second))Z"
    }
}
