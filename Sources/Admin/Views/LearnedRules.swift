import Authentication
import Bytes
import Challenges
import Model

/// Rules for the servers of the journal, as narrow as their challenges: to be reviewed, then added to the rule file.
enum LearnedRules {
    /// The challenges that one rule answers: those of a server's realm that take the same kind of credential.
    private struct Place: Hashable {
        let origin: Origin
        let realm: String?
        let credential: AuthenticationMethod.Traits.Credential?

        init(_ space: ProtectionSpace) {
            origin = space.origin
            realm = space.realm
            credential = space.authenticationMethod.traits.credential
        }
    }

    /// - Parameter names: the names that the rule file has.
    static func text(
        _ entries: [JournalEntry], besides names: JournalEntry.SuggestedNames = JournalEntry.SuggestedNames()
    ) -> String {
        var places: [Place] = []
        var found: [Place: [JournalEntry]] = [:]
        for entry in entries where isOfLogin(entry) {
            let place = Place(entry.key.space)
            if found[place] == nil { places.append(place) }
            found[place, default: []].append(entry)
        }
        var names = names
        var made: [Origin: String] = [:]
        return places.compactMap { paragraph(found[$0] ?? [], &names, &made) }.joined(separator: "\n")
    }

    /// Whether a rule for the challenge is needed: not for one that the answer to another one of its response solved.
    private static func isOfLogin(_ entry: JournalEntry) -> Bool {
        ![.unseen, .tunnelled].contains(entry.outcome) && entry.key.space.authenticationMethod != .serverTrust
            && entry.solved == nil
    }

    /// - Parameter made: the names of the credentials to be made, by server.
    private static func paragraph(
        _ entries: [JournalEntry], _ names: inout JournalEntry.SuggestedNames, _ made: inout [Origin: String]
    ) -> String? {
        let answered = entries.filter(\.isAnswered)
        let open = answered.isEmpty ? entries : answered
        // A credential is not sent in a readable form where a safe method is offered.
        let safe = open.filter { $0.key.space.receivesCredentialSecurely }
        let chosen = safe.isEmpty ? open : safe
        guard let entry = chosen.first else { return nil }
        let space = entry.key.space
        var rule = SuggestedChallengeRule(space)
        for method in chosen.map(\.key.space.authenticationMethod) where !rule.methods.contains(method) {
            rule.methods.append(method)
        }
        rule.credentials = entry.credentials
        rule.wantsSecure = entry.wantsSecure
        rule.ruleName = names.takeRule(space.host)
        let known = made[space.origin]
        rule.credentialName = known ?? names.freeCredential("\(space.isProxy ? "parent" : "origin")-\(space.host)")
        guard var lines = rule.lines else { return nil }
        if let name = rule.madeCredential {
            if known != nil { lines.removeFirst() } else { names.credentials.insert(name) }
            made[space.origin] = name
        }
        let count = chosen.reduce(0) { max($0, $1.count) }
        let times = count == 1 ? "once" : "\(count) times"
        let last = chosen.reduce(0) { max($0, $1.last) }
        let schemes = chosen.map(\.key.scheme).joined(separator: ", ")
        let realm = space.realm.map { " \"\($0)\"" } ?? ""
        let title = "# \(schemes)\(realm) of \(space.origin.words): \(times), last \(AdminTime.text(last))"
        return ([title, "# \(reason(entry))"] + lines).map { $0 + "\n" }.joined()
    }

    private static func reason(_ entry: JournalEntry) -> String {
        guard entry.isAnswered else { return "not answered: \(entry.reason ?? "unknown reason")" }
        let credential = entry.credential.map { "with \($0)" } ?? "without a credential"
        return "answered \(credential)" + (entry.rule.map { " by rule \($0)" } ?? "")
    }
}
