import Authentication
import Model

@testable import Challenges

/// The view of challenges that operators get, with the names of conversations.
enum PlayedJournal {
    static func members(of entry: JournalEntry) -> [String: String] {
        var members = [
            "scheme": entry.key.scheme, "server": entry.key.space.origin.authority, "outcome": entry.outcome.rawValue,
            "disposition": entry.disposition, "failures": "\(entry.failures)", "count": "\(entry.count)",
        ]
        members["realm"] = entry.key.space.realm
        members["rule"] = entry.rule?.description
        members["credential"] = entry.credential
        members["reason"] = entry.reason
        return members.merging(Self.members(of: entry.response)) { $1 }
    }

    static func members(of question: OperatorQuestion) -> [String: String] {
        [
            "id": "\(question.id)", "failures": "\(question.failures)", "words": question.words,
            "rule": question.rule?.description ?? "",
        ]
        .merging(members(of: question.response)) { $1 }
    }

    private static func members(of response: ResponseExcerpt?) -> [String: String] {
        var members: [String: String] = [:]
        members["status"] = response.map { "\($0.status)" }
        members["fields"] = response.map { $0.fields.joined(separator: ", ") }
        members["text"] = response?.text
        return members
    }
}
