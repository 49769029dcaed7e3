import Challenges
import Credentials
import HTTP
import IO
import Model

/// The operators' answers that also apply to later requests, as text, and how to revoke them.
enum AnswerTable {
    static func text(_ answers: [OperatorAnswer.Standing]) -> String {
        answers.map { answer in
            var lines = [
                "\(answer.id)  \(answer.challenge)", "   \(answer.words), since \(AdminTime.text(answer.since))",
            ]
            if let rule = answer.rule { lines.append("   rule \(rule) asked") }
            return lines.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// - Parameter query: contains the answer's number as `id`.
    static func forget(
        _ query: ControlSite.Query, in state: ChallengeState, by actor: AuditEvent.Actor
    ) async -> AdminResponse {
        guard let id = query["id"].flatMap({ Int($0) }) else {
            return .text(.badRequest, "the ID of the answer is missing")
        }
        do throws(OperatorAnswer.Failure) {
            let today = Day(of: SystemClock.wallTime)
            let answer = try await state.forgetAnswer(id, on: today, by: actor)
            return .text(.ok, "\(answer.challenge): '\(answer.words)' is no longer saved")
        } catch { return .text(.conflict, "\(error)") }
    }
}
