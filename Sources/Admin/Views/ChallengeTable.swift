import Authentication
import Bytes
import Challenges
import Model

/// The journal of challenges for people; entries that need action come first.
enum ChallengeTable {
    static func text(_ entries: [JournalEntry]) -> String {
        let tunnels = entries.filter { $0.outcome == .tunnelled }.map { "  \(title($0)): \(times($0))\n" }
        return [
            part("waiting for an operator", entries.filter { $0.outcome == .waiting }.map(waitingParagraph)),
            part("not answered", entries.filter(\.isOpen).map(paragraph), separator: "\n"),
            part("solved since then", entries.filter { $0.solved != nil }.map(solvedParagraph)),
            part("answered", entries.filter(\.isAnswered).map(paragraph)),
            part("tunnels that were not decrypted, to servers that no rule names", tunnels, footer: tunnelFooter),
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static let tunnelFooter =
        "  To answer the challenges of one, run 'attache init --intercept https://HOST/'.\n"

    /// Some paragraphs with a headline; empty without any.
    private static func part(
        _ title: String, _ paragraphs: [String], separator: String = "", footer: String = ""
    ) -> String {
        paragraphs.isEmpty ? "" : "\(title)\n\n\(paragraphs.joined(separator: separator))\(footer)"
    }

    /// A challenge whose requests are held.
    private static func waitingParagraph(_ entry: JournalEntry) -> String {
        "  \(title(entry)): since \(AdminTime.text(entry.last))\n    \(entry.reason ?? "unknown reason")\n"
    }

    /// A challenge that got no answer, of a server where something was answered later.
    private static func solvedParagraph(_ entry: JournalEntry) -> String {
        let time = entry.solved.map(AdminTime.text) ?? ""
        return "  \(title(entry)): solved at \(time)\n    \(entry.reason ?? "unknown reason")\n"
    }

    private static func paragraph(_ entry: JournalEntry) -> String {
        var lines = ["  \(title(entry)): \(times(entry))"]
        if entry.isAnswered {
            let rule = entry.rule.map { " by rule \($0)" } ?? ""
            let failures = entry.failures == 1 ? "1 refused answer" : "\(entry.failures) refused answers"
            lines.append("    \(answer(entry))\(rule)\(entry.failures > 0 ? ", after \(failures)" : "")")
            if entry.failures > 0 { lines += response(entry.response).map { "      \($0)" } }
        } else {
            lines.append("    \(entry.reason ?? "unknown reason")")
            // The lines of a response are in its title.
            if !entry.key.space.authenticationMethod.isOfResponses { lines += entry.lines.map { "      \($0)" } }
            lines += response(entry.response).map { "      \($0)" }
            lines += entry.rules.map { "      \($0)" }
            if let remedy = entry.remedy { lines.append("    \(remedy)") }
            if let suggestion = entry.suggestion {
                lines += ["    to answer it, add to the rule file:"]
                lines += suggestion.split(separator: "\n").map { "      \($0)" }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func times(_ entry: JournalEntry) -> String {
        "\(entry.count == 1 ? "once" : "\(entry.count) times"), last \(AdminTime.text(entry.last))"
    }

    /// The server's text, in lines of a terminal's width.
    static func response(_ response: ResponseExcerpt?) -> [String] {
        guard let response else { return [] }
        var lines = ["the server answered \(response.status)\(response.text == nil ? "" : ":")"]
        var line = ""
        for word in response.text?.split(separator: " ") ?? [] {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append("  \(line)")
                line = ""
            }
            line += line.isEmpty ? word : " \(word)"
        }
        if !line.isEmpty { lines.append("  \(line)") }
        return lines + response.fields
    }

    private static let width = 100

    private static func answer(_ entry: JournalEntry) -> String {
        if entry.key.space.authenticationMethod == .serverTrust {
            return "trusted" + (entry.credential.map { " by a \($0)" } ?? "")
        }
        return entry.credential.map { "credential \($0)" } ?? "no credential"
    }

    private static func title(_ entry: JournalEntry) -> String {
        let space = entry.key.space
        if [.unseen, .tunnelled].contains(entry.outcome) { return space.origin.words }
        let realm = space.realm.map { " \"\($0)\"" } ?? ""
        return "\(entry.key.scheme.isEmpty ? "no challenge" : entry.key.scheme)\(realm) of \(space.origin.words)"
    }
}

extension Origin {
    /// The origin as a URL, for people.
    public var words: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return
            "\(isProxy ? "the proxy " : "")\(`protocol` == .socks ? "socks5" : `protocol`.rawValue)://\(name):\(port)"
    }
}

/// Times on pages.
enum AdminTime {
    static func text(_ time: WallTime) -> String {
        let time = CivilTime(time)
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(time.year)-\(two(time.month))-\(two(time.day))T\(two(time.hour)):\(two(time.minute)):\(two(time.second))Z"
    }
}
