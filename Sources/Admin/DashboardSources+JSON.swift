import Authentication
import Challenges
import Model

/// The parts of the page, as it gets them.
extension DashboardSources {
    /// Spaces that a page gets: those seen last.
    private static let challengeLimit = 300

    func writeStatus(to json: inout JSONText) {
        let waiting = RunningStatus.Waiting(
            unanswered: challenges().count { !$0.isAnswered }, parked: state.spaces.parked.terms.count,
            questions: state.questions.open.count)
        let status = status()
        json.object { status.write(to: &$0, waiting) }
    }

    func writeParents(to json: inout JSONText) {
        json.array { json in for parent in status().parents { parent.write(to: &json) } }
    }

    func writeQuestions(to json: inout JSONText) {
        json.array { json in for question in state.questions.open { json.question(question) } }
    }

    func writeChallenges(to json: inout JSONText) {
        json.array { json in
            for entry in challenges().prefix(Self.challengeLimit) { json.challenge(entry) }
        }
    }

    func writeParked(to json: inout JSONText) {
        json.array { json in for (entry, term) in state.spaces.parked.terms { json.parked(entry, for: term) } }
    }

    func writeCertificates(to json: inout JSONText) {
        json.array { json in for look in certificates.looks { look.write(to: &json) } }
    }

    func writeExpiries(to json: inout JSONText) {
        json.array { json in
            for expiry in expiries() {
                json.object { json in
                    json.member("kind", expiry.kind)
                    json.member("name", expiry.name)
                    json.member("place", expiry.place)
                    json.member("last_day", "\(expiry.lastDay)")
                }
            }
        }
    }

    /// What is answered by ways that are on their way out.
    func writeMigration(to json: inout JSONText) {
        json.array { json in
            for entry in challenges() where entry.isAnswered {
                guard let finding = entry.migration else { continue }
                json.object { json in
                    json.member("finding", finding)
                    json.space(entry.key.space)
                    json.member("credential", entry.credential)
                    json.member("rule", entry.rule)
                    json.member("last", AdminTime.text(entry.last))
                    json.member("count", entry.count)
                }
            }
        }
    }
}

extension JournalEntry {
    /// Why its answers should become others; nil: they may stay.
    fileprivate var migration: String? {
        let space = key.space
        switch space.authenticationMethod {
        case .ntlm: return "NTLM"
        case .basic, .htmlForm: return space.receivesCredentialSecurely ? nil : "password in clear"
        case .bearer: return space.receivesCredentialSecurely ? nil : "token in clear"
        case .digest:
            // Without the parameter it is MD5 (RFC 7616 section 3.3).
            let isSHA = lines.contains { $0.lowercased().contains("algorithm=\"sha") }
            return isSHA ? nil : "Digest with MD5"
        default: return nil
        }
    }
}
