import Authentication
import Bytes
import Challenges
import IO
import Model

/// The list of credentials for people, the worst state first.
public enum CredentialTable {
    /// A line for each credential, followed by the facts about its value.
    public static func text(_ list: CredentialList) -> String {
        let lines = lines(list.entries.map { columns(of: $0) + [place(of: $0)] })
        return zip(list.entries, lines).map { entry, line in
            ([line] + details(of: entry).map { "    \($0)" }).map { $0 + "\n" }.joined()
        }.joined()
    }

    /// Returns a line for each row, with columns that are as wide as their longest text.
    ///
    /// - Parameter rows: rows with the same number of texts.
    public static func lines(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            return line.lastIndex { $0 != " " }.map { String(line[...$0]) } ?? ""
        }
    }

    /// The columns: state, name and kind.
    private static func columns(of entry: CredentialList.Entry) -> [String] {
        let state = entry.isJudged ? entry.standing.state.rawValue : "-"
        switch entry.source {
        case .store(let place):
            let kind = place.space.authenticationMethod.storedKind.rawValue
            return [state, "\(place.isDefault ? "*" : " ") \(JournalText.printable(place.user))", kind]
        case .token: return [state, "  \(JournalText.printable(entry.name))", "fetched token"]
        case .ruleFile, .client: return [state, "  \(JournalText.printable(entry.name))", entry.source.words]
        }
    }

    private static func place(of entry: CredentialList.Entry) -> String {
        switch entry.source {
        case .ruleFile(let content): return content.placeWords ?? ""
        case .token(.oauth(let grant)): return "by \(grant.server)"
        case .token(.registry(let source)): return "by \(AuthorizationServer.registry(source.server))"
        case .token, .client: return ""
        case .store(let place): return place.space.described(until: place.lastDay)
        }
    }

    private static func details(of entry: CredentialList.Entry) -> [String] {
        let times = [
            entry.since.map { "first met \(AdminTime.text($0))" },
            entry.lastSent.map { "last sent \(AdminTime.text($0))" },
        ].compactMap(\.self)
        var lines = times.isEmpty ? [] : [times.joined(separator: ", ")]
        if entry.standing.state == .unproven { lines.append(entry.standing.words) }
        lines += entry.servers.map(\.words)
        if let remedy = entry.remedy { lines.append(remedy) }
        return lines
    }

    public static func json(_ list: CredentialList) -> String {
        JSONText.document(.credentials, list.entries) { $0.credential($1) }
    }
}

extension Account.Standing {
    /// The standing for people: the state, its beginning, and the event that the next answer waits for.
    var words: String {
        let since = since.map { " since \(AdminTime.text($0))" } ?? ""
        return "\(state)\(since)\(isTroubled ? ", \(nextTry.words)" : "")"
    }
}

extension Account.NextTry {
    var words: String {
        switch self {
        case .request: "the next request asks the server again"
        case .time(let time): "next try \(AdminTime.text(time))"
        case .otherTarget(let time): "next try for another target, or \(AdminTime.text(time))"
        case .otherServer(let time): "next try at another server, or \(AdminTime.text(time))"
        case .verdict: "an answer has been sent"
        case .newValue: "not sent until you set its value again"
        }
    }
}

extension CredentialList.Entry.Server {
    fileprivate var words: String {
        let name = JournalText.printable(name)
        if standing.state == .good {
            return "\(name): accepted\(lastAccepted.map { ", last \(AdminTime.text($0))" } ?? "")"
        }
        let times = [
            // The state then concerns all servers.
            standing.state == .unproven ? nil : standing.words,
            lastAccepted.map { "accepted \(AdminTime.text($0))" }, lastRefused.map { "refused \(AdminTime.text($0))" },
        ].compactMap(\.self).joined(separator: ", ")
        // A reason that only names the server adds nothing.
        let isKnown = reason.map { $0.hasPrefix("was refused by ") && $0.split(separator: " ").count == 4 } ?? true
        let other = isKnown ? nil : reason
        return "\(name): \(times)\(other.map { ": it \(JournalText.printable($0, longest: 512))" } ?? "")"
    }
}

extension CredentialSource {
    fileprivate var placeWords: String? {
        switch place {
        case .file(let path): "file \(JournalText.printable(path))"
        case .environment(let name): "env \(JournalText.printable(name))"
        case .command(let command): "run \(JournalText.printable(command.program))"
        case .literal, nil: nil
        }
    }
}

extension ProtectionSpace {
    /// The space for people, in few words.
    public var words: String {
        let server = "\(isProxy ? "the proxy " : "")\(origin.commandURL)"
        if authenticationMethod == .serverTrust { return server }
        let method = authenticationMethod == .default ? "any method" : authenticationMethod.rawValue
        return "\(method)\(realm.map { " \"\(JournalText.printable($0))\"" } ?? "") of \(server)"
    }

    /// The space for people, with the last day on which its credential is valid, if known.
    public func described(until lastDay: Day?) -> String {
        guard let lastDay else { return words }
        return "\(words), \(lastDay < Day(of: SystemClock.wallTime) ? "expired on" : "until") \(lastDay)"
    }
}

extension JSONText {
    mutating func credential(_ entry: CredentialList.Entry) {
        object { json in
            json.member(CredentialField.credential, entry.name)
            json.member(CredentialField.source, entry.source.words)
            switch entry.source {
            case .ruleFile(let content): json.member(CredentialField.place, content.placeWords)
            case .token(.oauth(let grant)): json.member(CredentialField.endpoint, "\(grant.server)")
            case .token(.registry(let source)):
                json.member(CredentialField.endpoint, source.server.map { "\($0)" })
            case .store(let place):
                json.space(place.space)
                json.member(CredentialField.user, place.user)
                json.member(CredentialField.kind, place.space.authenticationMethod.storedKind.rawValue)
                json.member(CredentialField.isDefault, place.isDefault)
                json.member(CredentialField.lastDay, place.lastDay.map { "\($0)" })
            case .token, .client: break
            }
            if entry.isJudged { json.standing(entry.standing) }
            json.member(CredentialField.reason, entry.reason)
            json.member(CredentialField.firstMet, time: entry.since)
            json.member(CredentialField.lastSent, time: entry.lastSent)
            json.member(CredentialField.remedy, entry.remedy)
            json.array(CredentialField.servers) { json in
                for server in entry.servers {
                    json.object { json in
                        json.member(JudgeField.server, server.name)
                        json.standing(server.standing)
                        json.member(JudgeField.reason, server.reason)
                        json.member(JudgeField.accepted, server.hasAccepted)
                        json.member(JudgeField.lastAccepted, time: server.lastAccepted)
                        json.member(JudgeField.lastRefused, time: server.lastRefused)
                    }
                }
            }
        }
    }

    mutating func standing(_ standing: Account.Standing) {
        member(StandingField.state, standing.state.rawValue)
        guard standing.isTroubled else { return }
        member(StandingField.since, time: standing.since)
        switch standing.nextTry {
        case .time(let time): member(StandingField.nextTry, time: time)
        case .otherTarget(let time):
            member(StandingField.nextTry, time: time)
            member(StandingField.waitsFor, "other-target")
        case .otherServer(let time):
            member(StandingField.nextTry, time: time)
            member(StandingField.waitsFor, "other-server")
        case .request: member(StandingField.waitsFor, "request")
        case .verdict: member(StandingField.waitsFor, "verdict")
        case .newValue: member(StandingField.waitsFor, "new-value")
        }
    }
}
