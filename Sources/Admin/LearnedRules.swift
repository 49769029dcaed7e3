import Authentication
import Challenges
import Model

/// Rules for the servers of the journal, as narrow as their challenges: to be reviewed, then added to the rule file.
enum LearnedRules {
    static func text(_ entries: [JournalEntry]) -> String {
        var made: Set<String> = []
        return entries.compactMap { paragraph($0, &made) }.joined(separator: "\n")
    }

    private static func paragraph(_ entry: JournalEntry, _ made: inout Set<String>) -> String? {
        let space = entry.key.space
        guard entry.outcome != .unseen, space.authenticationMethod != .serverTrust else { return nil }
        var rule = SuggestedChallengeRule(space)
        rule.isNarrow = true
        rule.credentials = entry.credentials
        rule.wantsSecure = entry.wantsSecure
        rule.credentialName = "\(space.isProxy ? "parent" : "origin")-\(space.host)"
        guard var lines = rule.lines else { return nil }
        if rule.credentials.isEmpty, let first = lines.first, !made.insert(first).inserted { lines.removeFirst() }
        let times = entry.count == 1 ? "once" : "\(entry.count) times"
        let realm = space.realm.map { " \"\($0)\"" } ?? ""
        let title =
            "# \(entry.key.scheme)\(realm) of \(space.origin.words): \(times), last \(AdminTime.text(entry.last))"
        return ([title, "# \(reason(entry))"] + lines).map { $0 + "\n" }.joined()
    }

    private static func reason(_ entry: JournalEntry) -> String {
        guard entry.isAnswered else { return "not answered: \(entry.reason ?? "unknown reason")" }
        let credential = entry.credential.map { "with \($0)" } ?? "without a credential"
        return "answered \(credential)" + (entry.rule.map { " by rule \($0)" } ?? "")
    }
}
