import Authentication
import Challenges
import IO
import Model

/// The parts of the page, in its own format.
extension DashboardSources {
    /// The limit of spaces for a page: those seen last.
    private static let challengeLimit = 300
    /// The limit of credentials for a page: those in the worst state.
    private static let credentialLimit = 300

    func writeStatus(to json: inout JSONText) {
        let waiting = RunningStatus.Waiting(
            unanswered: challenges().count { !$0.isAnswered }, credentials: credentials(),
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

    func writeAnswers(to json: inout JSONText) {
        let today = Day(epochSeconds: SystemClock.epochMilliseconds / 1000)
        json.array { json in for answer in state.standingAnswers(on: today) { json.answer(answer) } }
    }

    func writeChallenges(to json: inout JSONText) {
        json.array { json in
            for entry in challenges().prefix(Self.challengeLimit) { json.challenge(entry) }
        }
    }

    func writeCredentials(to json: inout JSONText) {
        json.array { json in
            for entry in credentials().entries.prefix(Self.credentialLimit) { json.credential(entry) }
        }
    }

    func writeCertificates(to json: inout JSONText) {
        json.array { json in for look in certificates.looks { look.write(to: &json) } }
    }

    func writeExpiries(to json: inout JSONText) {
        json.array { json in
            for expiry in expiries() { expiry.write(to: &json) }
        }
    }

    /// Writes the weak logins and old TLS still in use, with their clients.
    func writeMigration(to json: inout JSONText) {
        json.array { json in for use in dated() { use.write(to: &json) } }
    }
}
